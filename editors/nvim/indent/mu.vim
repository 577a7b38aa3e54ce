" Indentation of property files: a property begins in the first column, its other lines two columns further.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=MasqueMuIndent()
setlocal indentkeys=o,O,e
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*MasqueMuIndent')
  finish
endif

function! MasqueMuIndent() abort
  let previous = prevnonblank(v:lnum - 1)
  let line = substitute(getline(previous), '\v(//|\%).*$', '', '')
  if previous == 0 || line =~# ';\s*$'
    return 0
  endif
  return line =~# '\v^\s*[[:alnum:]_$]+\s*:' ? shiftwidth() : indent(previous)
endfunction
