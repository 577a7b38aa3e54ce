" File types of Masque. Neovim itself takes `.mu` for MuPAD, so `set` replaces what was found before.
autocmd BufNewFile,BufRead *.ispl set filetype=ispl
autocmd BufNewFile,BufRead *.bdi set filetype=bdi
autocmd BufNewFile,BufRead *.lcc,*.pol set filetype=lcc
autocmd BufNewFile,BufRead *.mu set filetype=mu
