-- Configuration for `vim.lsp.enable('masque')`, Neovim 0.11 and newer.
local config = require('masque').config()
config.root_markers = { '.git' }
return config
