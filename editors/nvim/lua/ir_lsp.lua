-- ir-lsp in Neovim 0.7 and newer; what newer versions deprecate is used in older ones only.
--
--   require("ir_lsp").setup({ cmd = { "ir-lsp" } })
local M = {}

M.config = {
  cmd = { "ir-lsp" },
  filetypes = { "tvmscript" },
  -- Whether Python files that import script modules are checked, too.
  python = true,
  -- Names of files and folders that mark the root of a project.
  root_markers = { ".git", "CMakeLists.txt" },
  on_attach = nil,
}

local uv = vim.uv or vim.loop

local function clients_of(buffer)
  if vim.lsp.get_clients then return vim.lsp.get_clients({ bufnr = buffer }) end
  return vim.lsp.buf_get_clients(buffer)
end

-- Methods of clients take the client since 0.11.
local function call(client, method, ...)
  if vim.fn.has("nvim-0.11") == 1 then return client[method](client, ...) end
  return client[method](...)
end

local function root_of(path)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  local at = folder
  while true do
    for _, marker in ipairs(M.config.root_markers) do
      if uv.fs_stat(at .. "/" .. marker) then return at end
    end
    local parent = vim.fn.fnamemodify(at, ":h")
    if parent == at then return folder end
    at = parent
  end
end

local shown = {} -- buffers by the URIs of the virtual documents in them

local asked = {} -- requests that are not answered yet, by buffer

-- Asks for the text of a virtual document, and puts it into a buffer. What was asked for it before is out of date.
local function fill(buffer, uri, client)
  if asked[buffer] then call(client, "cancel_request", asked[buffer]) end
  local id
  _, id = call(client, "request", "ir/content", { uri = uri }, function(err, result)
    if asked[buffer] ~= id then return end
    asked[buffer] = nil
    if err then return vim.notify(err.message, vim.log.levels.ERROR) end
    if not vim.api.nvim_buf_is_valid(buffer) then return end
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split(result.text, "\n"))
    vim.bo[buffer].modifiable = false
    -- The server reads the text of files, not what it made itself.
    vim.bo[buffer].syntax = result.language or "tvmscript"
  end)
  asked[buffer] = id
end

-- Shows a virtual document of the server, such as the module after a pass, in a window next to this one.
function M.show(uri, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  local buffer = shown[uri]
  if not (buffer and vim.api.nvim_buf_is_valid(buffer)) then
    buffer = vim.api.nvim_create_buf(true, true)
    vim.api.nvim_buf_set_name(buffer, uri)
    shown[uri] = buffer
  end
  if vim.fn.bufwinid(buffer) < 0 then vim.cmd("vertical sbuffer " .. buffer) end
  fill(buffer, uri, client)
end

-- A virtual document is out of date.
local function refresh(_, result, context)
  local buffer = shown[result.uri]
  if buffer and vim.api.nvim_buf_is_valid(buffer) then
    fill(buffer, result.uri, vim.lsp.get_client_by_id(context.client_id))
  end
end

local function encode(text)
  return (text:gsub("[^%w%-_.~/]", function(c) return string.format("%%%02X", c:byte()) end))
end

-- The client of the current buffer, or else any.
local function client_here()
  for _, client in pairs(clients_of(0)) do
    if client.name == "ir-lsp" then return client end
  end
  return vim.lsp.get_client_by_id(M.attach(vim.api.nvim_get_current_buf()))
end

-- The URI of the module that a file holds, of any format.
function M.module_uri(file)
  local path = vim.fn.fnamemodify(file, ":p")
  return string.format("ir-opt:/module/%s.ir?source=%s", encode(vim.fn.fnamemodify(file, ":t")), encode(vim.uri_from_fname(path)))
end

-- The module in a file, such as one of ONNX.
function M.show_module(file) M.show(M.module_uri(file), client_here().id) end

-- The difference between the modules of two files.
function M.show_difference(left, right)
  local name = vim.fn.fnamemodify(left, ":t") .. "-" .. vim.fn.fnamemodify(right, ":t")
  local uri = string.format("ir-opt:/diff/%s.diff?left=%s&right=%s", encode(name), encode(vim.uri_from_fname(vim.fn.fnamemodify(left, ":p"))),
                            encode(vim.uri_from_fname(vim.fn.fnamemodify(right, ":p"))))
  M.show(uri, client_here().id)
end

-- Lets the user choose a pass of a pipeline, by default that of the file, and shows the module after it.
function M.show_passes(passes)
  local client = client_here()
  local params = { textDocument = vim.lsp.util.make_text_document_params(), passes = passes ~= "" and passes or nil }
  call(client, "request", "ir/passes", params, function(err, result)
    if err then return vim.notify(err.message, vim.log.levels.ERROR) end
    if result.error then vim.notify(result.error, vim.log.levels.WARN) end
    vim.ui.select(result.steps, {
      prompt = "Module after",
      format_item = function(step) return step.name .. (step.changed and " (changed)" or "") end,
    }, function(step)
      if step then M.show(step.uri, client.id) end
    end)
  end)
end

local function add_commands()
  local add = vim.api.nvim_create_user_command
  add("IrModule", function(args) M.show_module(args.args) end, { nargs = 1, complete = "file" })
  add("IrDiff", function(args) M.show_difference(args.fargs[1], args.fargs[2]) end, { nargs = "+", complete = "file" })
  add("IrPasses", function(args) M.show_passes(args.args) end, { nargs = "?" })
end

local started = {} -- clients by root, where Neovim does not look for them itself

-- Starts the server for a buffer, or joins the one of its project.
function M.attach(buffer)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  local config = {
    name = "ir-lsp",
    cmd = M.config.cmd,
    root_dir = root,
    on_attach = M.config.on_attach,
    flags = M.config.flags,
    handlers = { ["ir/contentChanged"] = refresh },
    commands = {
      ["ir.show"] = function(command, context) M.show(command.arguments[1], context.client_id) end,
    },
    get_language_id = function(_, filetype) return filetype end,
    on_exit = function() started[root] = nil end,
  }
  if vim.fn.has("nvim-0.9") == 1 then return vim.lsp.start(config, { bufnr = buffer }) end
  started[root] = started[root] or vim.lsp.start_client(config)
  if started[root] then vim.lsp.buf_attach_client(buffer, started[root]) end
  return started[root]
end

-- Returns whether a buffer imports script modules: from tvm.script import tir as T.
local function has_scripts(buffer)
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    if line:match("^%s*from%s+[%w_.]*script[%w_.]*%s+import") then return true end
  end
  return false
end

function M.setup(config)
  M.config = vim.tbl_extend("force", M.config, config or {})
  local group = vim.api.nvim_create_augroup("ir_lsp", { clear = true })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = M.config.filetypes,
    callback = function(args) M.attach(args.buf) end,
  })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = "python",
    callback = function(args)
      if M.config.python and has_scripts(args.buf) then M.attach(args.buf) end
    end,
  })
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
    group = group,
    pattern = "*.pipeline.json",
    callback = function(args) M.attach(args.buf) end,
  })
  add_commands()
end

return M
