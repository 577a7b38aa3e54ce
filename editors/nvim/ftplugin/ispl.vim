" Options for ISPL files.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal commentstring=--\ %s
setlocal comments=:--
setlocal formatoptions-=t formatoptions+=croql
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal suffixesadd=.ispl
let b:match_words = '\<Agent\>:\<end\s\+Agent\>,\<Vars\>:\<end\s\+Vars\>,\<Protocol\>:\<end\s\+Protocol\>,\<Evolution\>:\<end\s\+Evolution\>'
let b:match_skip = 's:comment'
let b:undo_ftplugin = 'setlocal commentstring< comments< formatoptions< expandtab< shiftwidth< softtabstop< suffixesadd<'
      \ . '| unlet! b:match_words b:match_skip'
