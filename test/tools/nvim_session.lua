-- Replays a session in Neovim: edits of a buffer, each followed by the diagnostics that the editor then has.
--   nvim --headless -u NONE -l or -S this file, with the paths in the environment
local session = vim.fn.json_decode(vim.fn.readfile(vim.env.IR_SESSION))
vim.opt.runtimepath:append(vim.env.IR_NVIM)
vim.o.swapfile = false

local published = {}
local handler = vim.lsp.handlers["textDocument/publishDiagnostics"]
vim.lsp.handlers["textDocument/publishDiagnostics"] = function(err, result, ctx, config)
  published[result.uri] = result.version
  return handler(err, result, ctx, config)
end

local steps = {}
local function finish(failure)
  vim.fn.writefile({ vim.fn.json_encode({ steps = steps, failure = failure or vim.NIL }) }, vim.env.IR_RESULT)
  vim.cmd("qall!")
end

local ok, message = pcall(function()
  local ir_lsp = require("ir_lsp")
  ir_lsp.setup({ cmd = { vim.env.IR_LSP }, flags = { debounce_text_changes = 0 } })
  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.IR_FILE))
  vim.bo.fileformat = session.fileformat or "unix"
  vim.bo.filetype = "tvmscript"
  local buffer = vim.api.nvim_get_current_buf()
  local uri = vim.uri_from_bufnr(buffer)
  local function settle()
    local current = function()
      return published[uri] ~= nil and published[uri] == vim.lsp.util.buf_versions[buffer]
    end
    if not vim.wait(20000, current, 1) then error("no diagnostics of the current version") end
    -- The handler shows them when it is called again by the loop.
    vim.wait(1)
    local found = {}
    for _, d in ipairs(vim.diagnostic.get(buffer)) do
      table.insert(found, { line = d.lnum, column = d.col, end_line = d.end_lnum, end_column = d.end_col, message = d.message })
    end
    table.insert(steps, { text = vim.api.nvim_buf_get_lines(buffer, 0, -1, true), diagnostics = found })
  end
  settle()
  for i, step in ipairs(session.steps) do
    vim.cmd("let &undolevels = &undolevels") -- what follows is undone at once
    if step.kind == "text" then
      vim.api.nvim_buf_set_text(buffer, step.line, step.column, step.end_line, step.end_column, step.text)
    elseif step.kind == "undo" or step.kind == "redo" then
      vim.cmd("silent " .. step.kind)
    elseif step.kind == "rename" then
      vim.api.nvim_win_set_cursor(0, { step.line + 1, step.column })
      local done = nil
      local params = vim.lsp.util.make_position_params(0, "utf-16")
      params.newName = step.name
      local answers = vim.lsp.buf_request_sync(buffer, "textDocument/rename", params, 10000)
      for id, answer in pairs(answers or {}) do
        if answer.error then error("step " .. i .. ": " .. answer.error.message) end
        vim.lsp.util.apply_workspace_edit(answer.result, vim.lsp.get_client_by_id(id).offset_encoding)
        done = true
      end
      if not done then error("no answer to a rename") end
    end
    settle()
  end
end)
finish(not ok and message or nil)
