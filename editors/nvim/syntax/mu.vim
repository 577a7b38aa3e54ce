" Syntax of the mu-calculus. The words are those of editors/keywords.json.
if exists('b:current_syntax')
  finish
endif
let s:cpo_save = &cpo
set cpo&vim

" Words.
syn keyword muOperator and or not
syn keyword muModality mu nu AX EX AG EF AF EG inev resp
syn keyword muConstant tt ff true false final deadlock
syn match muFunction "\v<%(in|out|tau|done|idle|at)>\ze\s*[(@>,\]}]"
syn match muModality "[μν]"
syn match muVariable "\v<[A-Z_]\w*>"
syn match muNumber "\v<\d+>"
syn match muString "\v\"([^\"\\]|\\.)*\""
syn match muString "\v'([^'\\]|\\.)*'"
syn match muSign "\v-\>|\&\&|\|\||[-!~|<>#@¬∧∨→⟨⟩〈〉−\[\]]"
syn match muProperty "\v(^|;)@1<=\s*\zs[[:alnum:]_$]+\ze\s*:"

" Comments, with expected verdicts.
syn match muExpectation "\v<expect( \a+)?:" contained
syn match muComment "\v(//|\%).*$" contains=muExpectation,@Spell
syn region muComment start="/\*" end="\*/" contains=muExpectation,@Spell

hi def link muOperator Operator
hi def link muModality Special
hi def link muFunction Function
hi def link muConstant Constant
hi def link muComment Comment
hi def link muExpectation SpecialComment
hi def link muString String
hi def link muNumber Number
hi def link muProperty Identifier
hi def link muVariable Identifier
hi def link muSign Operator

let b:current_syntax = 'mu'
let &cpo = s:cpo_save
unlet s:cpo_save
