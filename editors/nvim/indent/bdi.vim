" Indentation of BDI files: two columns for each open program, loop and brace.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=MasqueBdiIndent()
setlocal indentkeys=0},o,O,e,=endloop,=agent,=view,=property,=check,=mas,=option,=top,=import
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*MasqueBdiIndent')
  finish
endif

function! MasqueBdiIndent() abort
  let current = getline(v:lnum)
  if current =~# '\v^\s*(agent|view|property|check|mas|option|top|import)>'
    return 0
  endif
  let previous = prevnonblank(v:lnum - 1)
  if previous == 0
    return 0
  endif
  let line = substitute(getline(previous), '\v\s*(//.*)?$', '', '')
  let indent = indent(previous)
  " Several assignments in one step end with commas, except for the last one.
  let before = prevnonblank(previous - 1)
  let is_rest = before > 0 && getline(before) =~# '\v,\s*(//.*)?$'
  if line =~# ',$' && !is_rest
    let indent += shiftwidth()
  elseif line !~# ',$' && is_rest
    let indent -= shiftwidth()
  endif
  if line =~# '\v^\s*(agent|view)>.*<is\s*$'
    let indent += shiftwidth()
  elseif line =~# '\v^\s*loop>' && line !~# '\<endloop\>'
    let indent += shiftwidth()
  elseif line =~# '{[^}]*$' || line =~# '\v<(then|else)\s*$'
    let indent += shiftwidth()
  endif
  if current =~# '\v^\s*(endloop>|\}|else>)'
    let indent -= shiftwidth()
  endif
  return max([indent, 0])
endfunction
