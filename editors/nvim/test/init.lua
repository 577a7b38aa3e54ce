-- Start file of the tests: this folder is the only plugin, and nothing of the user is read.
local folder = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h')
vim.opt.runtimepath = { folder, vim.env.VIMRUNTIME }
vim.opt.swapfile = false
vim.cmd('filetype plugin indent on')
vim.cmd('syntax on')
