" Syntax of ISPL. The words are those of editors/keywords.json.
if exists('b:current_syntax')
  finish
endif
let s:cpo_save = &cpo
set cpo&vim

" Words.
syn keyword isplKeyword Agent Semantics Obsvars Lobsvars Vars RedStates GreenStates Actions Action Protocol Other Evolution Ev Lstate Lgreen Evaluation InitStates Groups import param for in where if
syn match isplKeyword "\v<%(end|Formulae|Fairness)>"
syn keyword isplOperator and or not mod
syn keyword isplType boolean
syn keyword isplConstant true false MultiAssignment SingleAssignment MA SA
syn match isplFunction "\v<%(forall|exists|sum|count|min|max|prev|next)>\ze\s*\("
syn match isplNumber "\v<\d+>"
syn match isplString "\v\"[^\"]*\""
syn match isplAgent "\v(<Agent\s+)@<=\h\w*"

" Formulas: only there a letter is an operator.
syn match isplModality "\v<%(AX|AF|AG|EX|EF|EG|LTL)>" contained
syn match isplModality "\v<%(CTL)>\*" contained
syn match isplModality "\v<%(K|GK|DK|GCK|KH|O|D|C)>\ze\s*\(" contained
syn match isplModality "\v<%(A|E)>\ze(\s*\(|\s+[FGX]>)" contained
syn match isplModality "\v<%(X|F|G)>\ze(\s*[(!<]|\s+\a)" contained
syn match isplModality "\v[ \t)\]]@1<=<%(U|W|R)>\ze[ \t(!]" contained
syn match isplModality "\v<%(mu|nu)>\ze\s+\h\w*\s*\." contained
syn match isplConstant "\v<%(perfect|uniform)>\ze(-\w+)?\s*\>" contained
syn match isplConstant "\v-@1<=<%(joint|objective)>\ze\s*\>" contained
syn match isplProperty "\v(^|;)@1<=\s*\zs\h\w*\ze(\[[^\]]*\])?\s*:" contained
syn region isplFormulae matchgroup=isplKeyword start="\v<%(Formulae|Fairness)>" end="\v<end\s+%(Formulae|Fairness)>" contains=isplComment,isplString,isplKeyword,isplOperator,isplConstant,isplFunction,isplNumber,isplModality,isplProperty

" Comments, with expected verdicts.
syn match isplExpectation "\v<expect( \a+)?:" contained
syn match isplComment "\v--.*$" contains=isplExpectation,@Spell

hi def link isplKeyword Keyword
hi def link isplOperator Operator
hi def link isplModality Special
hi def link isplFunction Function
hi def link isplConstant Constant
hi def link isplType Type
hi def link isplComment Comment
hi def link isplExpectation SpecialComment
hi def link isplString String
hi def link isplNumber Number
hi def link isplProperty Identifier
hi def link isplAgent Structure

let b:current_syntax = 'ispl'
let &cpo = s:cpo_save
unlet s:cpo_save
