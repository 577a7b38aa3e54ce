" Indentation of LCC files: statements begin in the first column, what belongs to them two columns further.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=MasqueLccIndent()
setlocal indentkeys=0),o,O,e
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*MasqueLccIndent')
  finish
endif

" Start of a statement, which begins in the first column.
let s:statement = '\v^\s*((agent|server|common|know|rule|enforced|choice|option|now|mail|property|import)\s|a\(.*::)'

function! MasqueLccIndent() abort
  if getline(v:lnum) =~# s:statement
    return 0
  endif
  let previous = prevnonblank(v:lnum - 1)
  if previous == 0
    return 0
  endif
  let line = substitute(getline(previous), '\v(//|\%).*$', '', '')
  if line =~# '\v^\s*$'
    return indent(previous)
  endif
  " A rule below a heading is indented, although the rule before it has ended.
  if line =~# '\v^\s*enforced\s+by>.*:\s*$'
    return shiftwidth()
  endif
  if line =~# '\v[.;]\s*$'
    return line =~# '\v^\s+\(' ? indent(previous) : 0
  endif
  let indent = indent(previous)
  if line =~# '\v::\s*$|^\s*(rule|know|common|property)>'
    let indent += shiftwidth()
  endif
  let open = count(line, '(') - count(line, ')')
  let indent += open * shiftwidth()
  if getline(v:lnum) =~# '^\s*)'
    let indent -= shiftwidth()
  endif
  return max([indent, 0])
endfunction
