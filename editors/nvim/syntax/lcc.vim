" Syntax of LCC. The words are those of editors/keywords.json.
if exists('b:current_syntax')
  finish
endif
let s:cpo_save = &cpo
set cpo&vim

" Formulas in properties.
syn include @muFormula syntax/mu.vim
unlet! b:current_syntax

" Words. Those that begin a statement are names elsewhere.
syn keyword lccOperator then or par and not is mod
syn match lccKeyword "\v(^|\.)@1<=\s*<%(agent|server|common|know|rule|enforced|choice|option|now|mail|property|import)>\ze(\s*[(.,])@!"
syn match lccKeyword "\v(<enforced\s+)@<=<%(by)>"
syn match lccKeyword "\v^\s*<%(r)>\ze\("
syn match lccKeyword "\v<%(a)>\ze\s*\("
syn match lccKeyword "\v<%(after|until)>\ze(\s*\()@!"
syn match lccConstant "\v<%(null|nil|self)>\ze(\s*\()@!"
syn match lccConstant "\v(,\s*)@<=<%(initial|necessary|optional|auxiliary|cyclic|uncommitted)>\ze\s*[,)]"
syn match lccAgent "\v(<a\s*\(\s*)@<=[a-z$][[:alnum:]_$]*"
syn match lccVariable "\v<[A-Z_]\w*>"
syn match lccConstant "\v<\a\w*(\.\d\w*)+"
syn match lccNumber "\v<\d+(\.\d+)?>"
syn match lccString "\v\"[^\"]*\""
syn match lccString "\v'[^']*'"
syn match lccSign "\v::|\=\>|\<\=|\<--?|-\>|[⇒⇐←→∧∨¬−]"
syn region lccPropertyFormula matchgroup=lccKeyword start="\v^\s*property>" matchgroup=lccSign end=";" contains=@muFormula,lccProperty,lccComment
syn match lccProperty "\v(<property\s+)@<=[[:alnum:]_$]+" contained

" Comments, with expected verdicts.
syn match lccExpectation "\v<expect( \a+)?:" contained
syn match lccComment "\v(//|\%).*$" contains=lccExpectation,@Spell
syn region lccComment start="/\*" end="\*/" contains=lccExpectation,@Spell

hi def link lccKeyword Keyword
hi def link lccOperator Operator
hi def link lccConstant Constant
hi def link lccComment Comment
hi def link lccExpectation SpecialComment
hi def link lccString String
hi def link lccNumber Number
hi def link lccProperty Identifier
hi def link lccAgent Structure
hi def link lccVariable Identifier
hi def link lccSign Operator

let b:current_syntax = 'lcc'
let &cpo = s:cpo_save
unlet s:cpo_save
