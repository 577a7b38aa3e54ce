" Indentation of ISPL files: two columns for each open section and brace.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=MasqueIsplIndent()
setlocal indentkeys=0},o,O,e,=end
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*MasqueIsplIndent')
  finish
endif

" Headings of sections that end with `end`.
let s:opens = '\v^\s*(Agent>|(Obsvars|Vars|RedStates|Protocol|Evolution|Ev)\s*:|(Evaluation|InitStates|Groups|Fairness|Formulae)>)'

function! MasqueIsplIndent() abort
  let previous = prevnonblank(v:lnum - 1)
  if previous == 0
    return 0
  endif
  let line = substitute(getline(previous), '--.*$', '', '')
  let indent = indent(previous)
  if line =~# s:opens && line !~# '\<end\>'
    let indent += shiftwidth()
  elseif line =~# '{[^}]*$'
    let indent += shiftwidth()
  endif
  if getline(v:lnum) =~# '\v^\s*(end>|\})'
    let indent -= shiftwidth()
  endif
  return indent
endfunction
