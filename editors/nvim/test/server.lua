-- Test with the real server: diagnostics, definition, rename, code lens and verdict. Run by `.ci/editors`.
--
-- The environment variable MASQUE has the path of the program.

local masque = require('masque')
local folder = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')

-- Milliseconds to wait for an answer. A debug build on a busy machine is slow.
local PATIENCE = 30000

local function fail(message)
  io.stderr:write('nvim: ' .. message .. '\n')
  vim.cmd('cquit 1')
end

-- Waits until `condition` returns a value, and returns it.
local function eventually(what, condition)
  local result
  vim.wait(PATIENCE, function()
    result = condition()
    return result
  end, 50)
  if not result then
    fail(what)
  end
  return result
end

-- Puts the cursor on the first character of `text` in the first line that contains it.
local function go_to(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then
      vim.api.nvim_win_set_cursor(0, { number, column - 1 })
      return number
    end
  end
  fail('the file has no `' .. text .. '`')
end

local function diagnostics(predicate)
  return vim.tbl_filter(predicate, vim.diagnostic.get(0))
end

local function errors()
  return diagnostics(function(diagnostic)
    return diagnostic.severity == vim.diagnostic.severity.ERROR
  end)
end

local function contains(text)
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find(text, 1, true) ~= nil
end

local messages = {}
vim.lsp.handlers['window/showMessage'] = function(_, message)
  table.insert(messages, message.message)
end

-- A file with an error has a diagnostic with a code, at the right place.
local work = vim.fn.tempname()
vim.fn.mkdir(work, 'p')
local path = work .. '/switch.ispl'
vim.fn.writefile(vim.fn.readfile(folder .. '/../../test/switch.ispl'), path)
-- Pages with evidence would open in a browser.
local page
masque.handlers['window/showDocument'] = function(_, message)
  page = vim.uri_to_fname(message.uri)
  return { success = true }
end
masque.setup({ path = vim.env.MASQUE })
vim.cmd('edit ' .. path)
local client = eventually('the server does not start', function()
  return masque.client(0)
end)
local found = eventually('there is no diagnostic', function()
  return errors()[1]
end)
local code = found.code or (found.user_data and found.user_data.lsp and found.user_data.lsp.code)
if code ~= 'ispl/unknown-action' or found.lnum + 1 ~= go_to('= pres ') then
  fail('the diagnostic is ' .. vim.inspect(found))
end
print('diagnostic: ' .. found.message)

-- The diagnostic disappears when the error is corrected.
vim.cmd('silent %s/= pres /= press /')
eventually('the diagnostic stays', function()
  return #errors() == 0
end)
vim.cmd('silent write')

-- From a use to the declaration.
go_to('lit;')
vim.lsp.buf.definition()
eventually('there is no jump to the definition', function()
  return vim.api.nvim_get_current_line():find('lit if', 1, true)
end)
print('definition: line ' .. vim.api.nvim_win_get_cursor(0)[1])

-- All occurrences get a new name.
vim.lsp.buf.rename('shining')
eventually('the name does not change', function()
  return contains('shining if') and contains('EF shining;') and contains('AG shining;') and not contains('lit')
end)
vim.cmd('silent write')
print('rename: 3 places')

-- The lens above a property checks it, and its verdict can be read.
local line = go_to('always :')
-- Since Neovim 0.12 lenses are kept up to date, and come with their client.
local is_new = vim.lsp.codelens.enable ~= nil
if not is_new then
  vim.lsp.codelens.refresh()
end
local function lens_of(command)
  for _, found_lens in ipairs(vim.lsp.codelens.get(is_new and { bufnr = 0 } or 0)) do
    local lens = found_lens.lens or found_lens
    if lens.range.start.line + 1 == line and lens.command and lens.command.command == command then
      return lens
    end
  end
end
eventually('there is no lens', function()
  return lens_of('masque.check')
end)
-- A line with several lenses asks which one.
vim.ui.select = function(items, _, choose)
  for index, item in ipairs(items) do
    local lens = item.lens or item
    if lens.command and lens.command.command == 'masque.check' then
      return choose(item, index)
    end
  end
  fail('there is no choice `check` in ' .. vim.inspect(items))
end
vim.lsp.codelens.run()
local function verdict_of(name)
  for _, property in ipairs(masque.verdicts(0)) do
    if property.name == name then
      return property.verdict
    end
  end
end
eventually('there is no verdict after the lens', function()
  return verdict_of('always') == 'fails'
end)
print('lens: always ' .. verdict_of('always'))

-- Neovim 0.7 has no inlay hints, so the verdict is also a diagnostic.
if not vim.lsp.inlay_hint then
  eventually('the verdict is not in the text', function()
    return diagnostics(function(diagnostic)
      return diagnostic.lnum + 1 == line and diagnostic.message:find('fails', 1, true) ~= nil
    end)[1]
  end)
end

-- The commands of this plugin.
vim.cmd('MasqueCheckAll')
eventually('there is no verdict after :MasqueCheckAll', function()
  return verdict_of('reachable') == 'holds' and verdict_of('always') == 'fails'
end)
if masque.status(0) ~= '1 holds, 1 fails' then
  fail('the status is ' .. masque.status(0))
end
go_to('reachable :')
vim.cmd('MasqueCheck')
eventually('there is no verdict after :MasqueCheck', function()
  return verdict_of('reachable') == 'holds'
end)
vim.cmd('MasqueVerdicts')
if vim.fn.getloclist(0)[1] == nil then
  fail(':MasqueVerdicts has no lines')
end
vim.cmd('lclose')

-- A page with evidence is opened.
page = nil
go_to('always :')
vim.cmd('MasqueWhy')
eventually('there is no page with evidence', function()
  return page and vim.fn.filereadable(page) == 1
end)
print('evidence: ' .. vim.fn.fnamemodify(page, ':t'))

-- A simulation runs in a terminal.
local window = vim.api.nvim_get_current_win()
vim.cmd('MasqueSimulate')
eventually('there is no terminal', function()
  return vim.bo.buftype == 'terminal'
end)
eventually('the simulation shows no state', function()
  return contains('Switch.on')
end)
vim.cmd('stopinsert')
vim.cmd('bdelete!')
vim.api.nvim_set_current_win(window)
print('simulation: in a terminal')

-- Restart, and the diagnostics of a new error.
vim.cmd('MasqueRestart')
eventually('the server does not start again', function()
  local again = masque.client(0)
  return again and again.id ~= client.id
end)
vim.cmd('silent %s/AG shining/AG shinin/')
eventually('there is no diagnostic after the restart', function()
  return errors()[1]
end)

vim.fn.delete(work, 'rf')
io.stdout:write('nvim: the test with the server passed\n')
vim.cmd('qall!')
