" Syntax of BDI. The words are those of editors/keywords.json.
if exists('b:current_syntax')
  finish
endif
let s:cpo_save = &cpo
set cpo&vim

" Words.
syn keyword bdiKeyword agent view is init loop endloop if then else do skip forall in mas property option top var bdi initially check fair import unless
syn keyword bdiOperator not
syn keyword bdiFunction subworld blind single_minded open_minded persistent serial introspection realism strong plain weak
syn keyword bdiConstant true false any AP
syn match bdiModality "\v<%(AX|AF|AG|EX|EF|EG)>"
syn match bdiModality "\v<%(B|D|I|PB|PD|PI)>\ze\s*\("
syn match bdiModality "\v<%(B|D|I)\ze_\w+(\s*\(|\s+[[:alpha:]!¬∀∃]|\s*[!¬∀∃])"
syn match bdiModality "\v<%(A|E)>\ze\s*[[(]"
syn match bdiModality "\v[∀∃]<%(X|F|G)>"
syn match bdiModality "\v[ \t)\]]@1<=<%(U|R|W)>\ze[ \t(!¬]"
syn match bdiNumber "\v<\d+>"
syn match bdiString "\v\"[^\"]*\""
syn match bdiSign "\v:\=|\<?-\>|\|+|[¬∧∨⊃⇒→↔⇔≡≤≥≠∥‖∀∃∈⊤⊥!&]"
syn match bdiAgent "\v(<agent\s+)@<=\h\w*"
syn match bdiProperty "\v(<property\s+)@<=\h\w*"

" Comments, with expected verdicts.
syn match bdiExpectation "\v<expect( \a+)?:" contained
syn match bdiComment "\v//.*$" contains=bdiExpectation,@Spell
syn region bdiComment start="/\*" end="\*/" contains=bdiExpectation,@Spell

hi def link bdiKeyword Keyword
hi def link bdiOperator Operator
hi def link bdiModality Special
hi def link bdiFunction Function
hi def link bdiConstant Constant
hi def link bdiComment Comment
hi def link bdiExpectation SpecialComment
hi def link bdiString String
hi def link bdiNumber Number
hi def link bdiProperty Identifier
hi def link bdiAgent Structure
hi def link bdiSign Operator

let b:current_syntax = 'bdi'
let &cpo = s:cpo_save
unlet s:cpo_save
