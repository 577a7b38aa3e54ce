-- Tests of file types, colours, options and indentation. Run by `.ci/editors`.

local failures = 0

local function expect(what, found, expected)
  if not vim.deep_equal(found, expected) then
    failures = failures + 1
    io.stderr:write(what .. ': expected ' .. vim.inspect(expected) .. ', found ' .. vim.inspect(found) .. '\n')
  end
end

-- Opens a new file with the given lines.
local function open(name, lines)
  vim.cmd('enew!')
  vim.cmd('file ' .. vim.fn.tempname() .. '_' .. name)
  vim.cmd('doautocmd BufNewFile ' .. name)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.cmd('syntax sync fromstart')
end

-- Name of the colour group of the first occurrence of a text in a line.
local function group(line, text)
  local column = assert(vim.fn.getline(line):find(text, 1, true), text)
  return vim.fn.synIDattr(vim.fn.synID(line, column, 1), 'name')
end

-- Checks the colours of texts: { line, text, group }.
local function colours(name, lines, expected)
  open(name, lines)
  for _, entry in ipairs(expected) do
    expect(name .. ' ' .. entry[1] .. ' `' .. entry[2] .. '`', group(entry[1], entry[2]), entry[3])
  end
end

-- Indents all lines again.
local function indented(name, lines)
  local flat = vim.tbl_map(vim.trim, lines)
  open(name, flat)
  vim.cmd('silent normal! gg=G')
  expect('indentation of ' .. name, vim.api.nvim_buf_get_lines(0, 0, -1, false), lines)
end

for name, filetype in pairs({ ['a.ispl'] = 'ispl', ['a.bdi'] = 'bdi', ['a.lcc'] = 'lcc', ['a.pol'] = 'lcc', ['a.mu'] = 'mu' }) do
  open(name, {})
  expect('file type of ' .. name, vim.bo.filetype, filetype)
  expect('comments of ' .. name, vim.bo.commentstring, filetype == 'ispl' and '-- %s' or '// %s')
  expect('width of ' .. name, vim.bo.shiftwidth, 2)
end

colours('a.ispl', {
  'Agent Alice -- expect: holds',
  '  Vars: x : boolean; end Vars',
  '  Actions = {A, K, U};',
  'end Agent',
  'Formulae',
  '  safe : AG(p -> K(Bob, q)) and true;',
  '  A(p U q); <g, uniform-joint> X p;',
  'end Formulae',
  'InitStates K = 1; end InitStates',
}, {
  { 1, 'Agent', 'isplKeyword' }, { 1, 'Alice', 'isplAgent' }, { 1, '--', 'isplComment' }, { 1, 'expect', 'isplExpectation' },
  { 2, 'boolean', 'isplType' }, { 2, 'end', 'isplKeyword' },
  { 3, 'A,', '' }, { 3, 'K', '' },
  { 5, 'Formulae', 'isplKeyword' },
  { 6, 'safe', 'isplProperty' }, { 6, 'AG', 'isplModality' }, { 6, 'K', 'isplModality' }, { 6, 'and', 'isplOperator' }, { 6, 'true', 'isplConstant' },
  { 7, 'A(', 'isplModality' }, { 7, 'U', 'isplModality' }, { 7, 'uniform', 'isplConstant' }, { 7, 'joint', 'isplConstant' }, { 7, 'X', 'isplModality' },
  { 8, 'end', 'isplKeyword' }, { 8, 'Formulae', 'isplKeyword' },
  { 9, 'K', '' }, { 9, '1', 'isplNumber' }, { 9, 'end', 'isplKeyword' },
})

colours('a.bdi', {
  'agent a is /* loop */ init p := any',
  'property dry: B(b, p) & ¬B_rcv p -> E[p U q]; // expect: fails',
}, {
  { 1, 'agent', 'bdiKeyword' }, { 1, 'a is', 'bdiAgent' }, { 1, 'loop', 'bdiComment' }, { 1, 'any', 'bdiConstant' },
  { 2, 'dry', 'bdiProperty' }, { 2, 'B(', 'bdiModality' }, { 2, 'B_', 'bdiModality' }, { 2, 'E[', 'bdiModality' },
  { 2, 'U', 'bdiModality' }, { 2, 'expect', 'bdiExpectation' },
})

colours('a.lcc', {
  'a(buyer, B) :: offer(10) => a(seller, S) then null.',
  'agent a(buyer, ben).',
  "know ben: agent('x').",
  'property ends : AF final && <out(m)>tt ;',
  'enforced by hd:',
}, {
  { 1, 'a(', 'lccKeyword' }, { 1, 'buyer', 'lccAgent' }, { 1, 'B', 'lccVariable' }, { 1, 'then', 'lccOperator' }, { 1, 'null', 'lccConstant' },
  { 2, 'agent', 'lccKeyword' },
  { 3, 'know', 'lccKeyword' }, { 3, 'agent', '' }, { 3, "'x'", 'lccString' },
  { 4, 'property', 'lccKeyword' }, { 4, 'ends', 'lccProperty' }, { 4, 'AF', 'muModality' }, { 4, 'final', 'muConstant' }, { 4, 'out', 'muFunction' },
  { 5, 'enforced', 'lccKeyword' }, { 5, 'by', 'lccKeyword' },
})

colours('a.mu', { 'retry : nu X. <pay>X || [in(m)]ff; % expect: holds', 'b : /* nu */ inev(a) ;' }, {
  { 1, 'retry', 'muProperty' }, { 1, 'nu', 'muModality' }, { 1, 'X', 'muVariable' }, { 1, 'in(', 'muFunction' },
  { 1, 'ff', 'muConstant' }, { 1, '%', 'muComment' }, { 1, 'expect', 'muExpectation' },
  { 2, 'b', 'muProperty' }, { 2, 'nu', 'muComment' }, { 2, 'inev', 'muModality' },
})

indented('a.ispl', {
  'Agent A',
  '  Vars:',
  '    x : boolean;',
  '  end Vars',
  '  Actions = {a};',
  '  Protocol: Other : {a}; end Protocol',
  '  Evolution:',
  '    for i in 1..2 {',
  '      x = true if Action = a;',
  '    }',
  '  end Evolution',
  'end Agent',
  'Agent B',
  '  Actions = {',
  '    a, b',
  '  };',
  '  Evolution:',
  '    x = true if',
  '      Action = a',
  '      and (x = false',
  '        or y = 1);',
  '    y = 1 if true;',
  '  end Evolution',
  'end Agent',
  'Formulae',
  '  AG p;',
  'end Formulae',
})
indented('a.bdi', {
  'agent a is',
  '  init p := false;',
  '  loop',
  '    do listen;',
  '    skip',
  '  endloop',
  'property q: p;',
})
indented('a.lcc', {
  'a(buyer, B) ::',
  '  offer(10) => a(seller, S) then',
  '  ok <= a(seller, S).',
  'agent a(buyer, ben).',
  'enforced by hd:',
  '  (A, self, +access).',
  '  (A, self, -open).',
})
indented('a.mu', { 'a : nu X. <->tt', '  && [-]X;', 'b : inev(a);' })

if failures > 0 then
  vim.cmd('cquit 1')
end
io.stdout:write('nvim: file types, colours and indentation are right\n')
vim.cmd('qall!')
