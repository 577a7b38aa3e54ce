-- Language server of Masque for Neovim 0.7 and newer: set-up, commands and verdicts.
--
--   require('masque').setup({ path = 'masque', settings = { check = { timeLimit = 60 } } })
--
-- With Neovim 0.11 and newer `vim.lsp.enable('masque')` starts the server, too; see docs/editors.md.

local M = {}

-- File types that the server reads.
M.filetypes = { 'ispl', 'bdi', 'lcc', 'mu' }

-- Options of `setup`.
M.options = {
  -- Path of the program.
  path = 'masque',
  -- Settings of the server: the section `masque` of docs/editors.md.
  settings = {},
  -- Whether to show code lenses.
  lenses = true,
  -- Whether to show verdicts as inlay hints, where Neovim has them (0.10).
  inlay_hints = true,
  -- Called with the client and the buffer when the server is attached, for key mappings.
  on_attach = nil,
}

-- Last verdicts, by the path of the model. A model may have properties in several files.
local verdicts = {}

local function has(version)
  return vim.fn.has('nvim-' .. version) == 1
end

local function report(message, level)
  vim.notify('masque: ' .. message, level or vim.log.levels.INFO)
end

-- Sends a request. Since Neovim 0.11 clients have methods instead of functions.
local function request(client, method, params, handler, buffer)
  if has('0.11') then
    return client:request(method, params, handler, buffer)
  end
  return client.request(method, params, handler, buffer)
end

-- The client of a buffer, or nil.
function M.client(buffer)
  buffer = (buffer == nil or buffer == 0) and vim.api.nvim_get_current_buf() or buffer
  if vim.lsp.get_clients then
    return vim.lsp.get_clients({ name = 'masque', bufnr = buffer })[1]
  end
  for _, client in pairs(vim.lsp.buf_get_clients(buffer)) do
    if client.name == 'masque' then
      return client
    end
  end
  return nil
end

-- Opens a page in the browser of the system.
local function open_page(uri)
  local path = vim.uri_to_fname(uri)
  if vim.ui.open then
    vim.ui.open(path)
    return true
  end
  local opener = vim.fn.has('mac') == 1 and { 'open', path }
    or vim.fn.has('win32') == 1 and { 'rundll32', 'url.dll,FileProtocolHandler', path }
    or { 'xdg-open', path }
  if vim.fn.executable(opener[1]) == 1 and vim.fn.jobstart(opener, { detach = true }) > 0 then
    return true
  end
  report('the evidence is in ' .. path)
  return false
end

-- Runs a simulation in a terminal below the current window.
local function open_terminal(message)
  vim.cmd('botright new')
  local options = { cwd = message.cwd ~= vim.NIL and message.cwd or nil }
  if has('0.11') then
    vim.fn.jobstart(message.command, vim.tbl_extend('force', options, { term = true }))
  else
    vim.fn.termopen(message.command, options)
  end
  vim.cmd('startinsert')
end

M.handlers = {
  ['masque/verdicts'] = function(_, message)
    verdicts[vim.uri_to_fname(message.uri)] = message
    vim.cmd('doautocmd <nomodeline> User MasqueVerdicts')
  end,
  ['masque/terminal'] = function(_, message)
    open_terminal(message)
  end,
  ['window/showDocument'] = function(_, message)
    if message.external then
      return { success = open_page(message.uri) }
    end
    vim.cmd('edit ' .. vim.fn.fnameescape(vim.uri_to_fname(message.uri)))
    return { success = true }
  end,
}

-- Verdicts of a buffer after the last check: a list of tables with `name`, `verdict`, `text` and `states`.
function M.verdicts(buffer)
  local path = vim.uri_to_fname(vim.uri_from_bufnr(buffer or 0))
  local found = {}
  for _, message in pairs(verdicts) do
    for _, property in ipairs(message.properties) do
      local uri = type(property.uri) == 'string' and property.uri or message.uri
      if vim.uri_to_fname(uri) == path then
        table.insert(found, property)
      end
    end
  end
  return found
end

-- The verdicts of a buffer on one line, for status lines: `2 hold, 1 fails`.
function M.status(buffer)
  local count = { holds = 0, fails = 0, unknown = 0 }
  for _, property in ipairs(M.verdicts(buffer)) do
    count[property.verdict] = (count[property.verdict] or 0) + 1
  end
  local parts = {}
  if count.holds > 0 then
    table.insert(parts, count.holds .. (count.holds == 1 and ' holds' or ' hold'))
  end
  if count.fails > 0 then
    table.insert(parts, count.fails .. (count.fails == 1 and ' fails' or ' fail'))
  end
  if count.unknown > 0 then
    table.insert(parts, count.unknown .. ' unknown')
  end
  return table.concat(parts, ', ')
end

-- Runs a command of the server on the current file.
local function execute(command, argument)
  local client = M.client()
  if not client then
    return report('the language server is not running in this buffer', vim.log.levels.WARN)
  end
  request(client, 'workspace/executeCommand', { command = command, arguments = { argument } }, function(err)
    if err then
      report(err.message, vim.log.levels.ERROR)
    end
  end, 0)
end

-- Runs a command of the server on the file of the current buffer.
function M.on_file(command)
  execute(command, { uri = vim.uri_from_bufnr(0) })
end

-- Runs a command of the server on the property at the cursor: the command of the code action there.
function M.on_property(command)
  local client = M.client()
  if not client then
    return report('the language server is not running in this buffer', vim.log.levels.WARN)
  end
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding or 'utf-16')
  params.context = { diagnostics = {}, only = { 'source.masque' } }
  request(client, 'textDocument/codeAction', params, function(err, actions)
    if err then
      return report(err.message, vim.log.levels.ERROR)
    end
    for _, action in ipairs(actions or {}) do
      local found = type(action.command) == 'table' and action.command or action
      if found.command == command then
        return execute(command, found.arguments[1])
      end
    end
    report('there is no property at the cursor')
  end, 0)
end

-- Shows code lenses, now and after changes.
local function show_lenses(buffer)
  local codelens = vim.lsp.codelens
  if codelens.enable then
    return codelens.enable(true, { bufnr = buffer })
  end
  local group = vim.api.nvim_create_augroup('masque_lenses_' .. buffer, { clear = true })
  vim.api.nvim_create_autocmd({ 'BufEnter', 'CursorHold', 'InsertLeave' }, {
    group = group,
    buffer = buffer,
    callback = function()
      codelens.refresh(has('0.10') and { bufnr = buffer } or nil)
    end,
  })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'MasqueVerdicts',
    callback = function()
      if vim.api.nvim_get_current_buf() == buffer then
        codelens.refresh(has('0.10') and { bufnr = buffer } or nil)
      end
    end,
  })
  codelens.refresh(has('0.10') and { bufnr = buffer } or nil)
end

-- Commands of a buffer: their name, what they do, and their description.
local commands = {
  { 'MasqueCheck', function() M.on_property('masque.check') end, 'Check the property at the cursor' },
  { 'MasqueCheckAll', function() M.on_file('masque.checkAll') end, 'Check all properties of the file' },
  { 'MasqueWhy', function() M.on_property('masque.why') end, 'Show the evidence for the property at the cursor' },
  { 'MasqueSimulate', function() M.on_property('masque.simulate') end, 'Simulate from the counterexample' },
  { 'MasqueCancel', function() M.on_file('masque.cancel') end, 'Cancel the check of the file' },
  { 'MasqueVerdicts', function() M.show_verdicts() end, 'Put the verdicts of the file into the location list' },
  { 'MasqueRestart', function() M.restart() end, 'Restart the language server' },
}

-- Shows the verdicts of the file in the location list.
function M.show_verdicts()
  local items = {}
  for _, property in ipairs(M.verdicts(0)) do
    local start = type(property.range) == 'table' and property.range.start or { line = 0, character = 0 }
    table.insert(items, {
      bufnr = vim.api.nvim_get_current_buf(),
      lnum = start.line + 1,
      col = start.character + 1,
      text = property.verdict .. '  ' .. property.name .. '  ' .. property.text,
      type = property.verdict == 'fails' and 'E' or 'I',
    })
  end
  if #items == 0 then
    return report('there are no verdicts; run :MasqueCheckAll first')
  end
  vim.fn.setloclist(0, {}, ' ', { title = 'Verdicts', items = items })
  vim.cmd('lopen')
end

-- Called when the server is attached to a buffer.
local function attached(client, buffer)
  for _, command in ipairs(commands) do
    vim.api.nvim_buf_create_user_command(buffer, command[1], command[2], { desc = command[3] })
  end
  if M.options.lenses then
    show_lenses(buffer)
  end
  if M.options.inlay_hints and vim.lsp.inlay_hint and has('0.10') then
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
  end
  if M.options.on_attach then
    M.options.on_attach(client, buffer)
  end
end

-- Folder of the workspace: that of the repository, else that of the file.
function M.root(path)
  local folder = vim.fn.fnamemodify(path, ':p:h')
  local repository = vim.fn.finddir('.git', vim.fn.escape(folder, ' ') .. ';')
  if repository ~= '' then
    return vim.fn.fnamemodify(repository, ':p:h:h')
  end
  return folder
end

-- Configuration of the client, for all versions of Neovim.
function M.config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.window = capabilities.window or {}
  capabilities.window.showDocument = { support = true }
  -- An empty table would be sent as a list.
  local settings = next(M.options.settings) and M.options.settings or vim.empty_dict()
  return {
    name = 'masque',
    cmd = { M.options.path, 'lsp' },
    filetypes = M.filetypes,
    capabilities = capabilities,
    settings = { masque = settings },
    init_options = { settings = settings, terminal = true, evidencePanel = false },
    handlers = M.handlers,
    on_attach = attached,
  }
end

-- Clients that this file started, by the folder of their workspace.
local started = {}

-- Starts the server for a buffer, or attaches the buffer to the server of its workspace.
function M.start(buffer)
  buffer = (buffer == nil or buffer == 0) and vim.api.nvim_get_current_buf() or buffer
  local root = M.root(vim.api.nvim_buf_get_name(buffer))
  local config = M.config()
  config.root_dir = root
  if vim.fn.executable(config.cmd[1]) == 0 then
    report(
      'there is no program `' .. config.cmd[1] .. '`; build it with `cargo install --path apps/cli`'
        .. " or give its path: require('masque').setup({ path = .. })",
      vim.log.levels.WARN
    )
    return nil
  end
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  local id = started[root]
  if not id or not vim.lsp.get_client_by_id(id) then
    id = vim.lsp.start_client(config)
    started[root] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
  return id
end

-- Stops the server of the current buffer and starts it again.
function M.restart()
  local client = M.client()
  local buffer = vim.api.nvim_get_current_buf()
  if client then
    if has('0.11') then
      client:stop(true)
    else
      client.stop(true)
    end
    started[client.config.root_dir or ''] = nil
    vim.wait(2000, function()
      return M.client(buffer) == nil
    end, 20)
  end
  M.start(buffer)
end

-- Starts the server for all files of Masque.
function M.setup(options)
  M.options = vim.tbl_deep_extend('force', M.options, options or {})
  local group = vim.api.nvim_create_augroup('masque', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = M.filetypes,
    callback = function(event)
      M.start(event.buf)
    end,
  })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.tbl_contains(M.filetypes, vim.bo[buffer].filetype) then
      M.start(buffer)
    end
  end
end

return M
