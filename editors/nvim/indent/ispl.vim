" Indentation of ISPL files: two columns for each open section, loop and bracket, and for the rest of a statement.
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
let s:heading = '\v^\s*(Agent>|(Obsvars|Vars|RedStates|Protocol|Evolution|Ev)\s*:|(Evaluation|InitStates|Groups|Fairness|Formulae)>)'

" The code of a line, without its comment.
function! s:Code(number) abort
  return substitute(getline(a:number), '\v\s*(--.*)?$', '', '')
endfunction

" Number of the line with code before a line, or 0.
function! s:Before(number) abort
  let number = prevnonblank(a:number - 1)
  while number > 0 && s:Code(number) ==# ''
    let number = prevnonblank(number - 1)
  endwhile
  return number
endfunction

" Whether a line is the heading of a section or of a loop.
function! s:Opens(code) abort
  return a:code =~# s:heading && a:code !~# '\<end\>' || a:code =~# '\v^\s*for>.*\{$'
endfunction

" Whether a statement continues on the next line.
function! s:IsUnfinished(code) abort
  return !s:Opens(a:code) && a:code !~# '\v;$|^\s*\}$|<end\s+\a+$'
endfunction

" Number of the line on which the statement of a line begins.
function! s:Statement(number) abort
  let number = a:number
  let before = s:Before(number)
  while before > 0 && s:IsUnfinished(s:Code(before))
    let number = before
    let before = s:Before(number)
  endwhile
  return number
endfunction

" Brackets that are open at the end of a text, in their order.
function! s:Open(text) abort
  let open = ''
  for sign in split(substitute(a:text, '[^][(){}]', '', 'g'), '\zs')
    let open = sign =~# '[[({]' ? open . sign : open[: -2]
  endfor
  return open
endfunction

function! MasqueIsplIndent() abort
  let previous = s:Before(v:lnum)
  if previous == 0
    return 0
  endif
  let code = s:Code(previous)
  let here = getline(v:lnum)
  if s:IsUnfinished(code)
    let start = s:Statement(previous)
    let open = s:Open(join(map(range(start, previous), 's:Code(v:val)'), ' '))
    let levels = strlen(open) - (here =~# '^\s*[])}]' ? 1 : 0)
    return indent(start) + shiftwidth() * (max([levels, 0]) + (open =~# '{' ? 0 : 1))
  endif
  let indent = s:Opens(code) ? indent(previous) + shiftwidth() : indent(s:Statement(previous))
  return indent - (here =~# '\v^\s*(end>|\})' ? shiftwidth() : 0)
endfunction
