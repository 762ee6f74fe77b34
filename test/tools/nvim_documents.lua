-- Shows virtual documents in Neovim: the module after a pass, which follows its source, that of a file of Relay, and a
-- difference. IR_FILE is a module with R.nn.relu, IR_OTHER a file of Relay.
vim.opt.runtimepath:append(vim.env.IR_NVIM)
vim.o.swapfile = false

local function finish(failure)
  vim.fn.writefile({ failure or "" }, vim.env.IR_RESULT)
  vim.cmd("qall!")
end

-- Waits for a window with a buffer whose name and text have the patterns.
local function wait_for(name, text)
  local seen = ""
  local function found()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local buffer = vim.api.nvim_win_get_buf(window)
      if vim.api.nvim_buf_get_name(buffer):find(name, 1, true) then
        seen = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n")
        if seen:find(text, 1, true) then return true end
      end
    end
    return false
  end
  if not vim.wait(20000, found, 5) then error("no '" .. text .. "' in a document " .. name .. ":\n" .. seen) end
end

local ok, message = pcall(function()
  require("ir_lsp").setup({ cmd = { vim.env.IR_LSP } })
  vim.cmd("edit " .. vim.fn.fnameescape(vim.env.IR_FILE))
  vim.bo.filetype = "tvmscript"
  local source = vim.api.nvim_get_current_buf()
  local window = vim.api.nvim_get_current_win()
  local client
  if not vim.wait(20000, function()
    _, client = next(vim.lsp.buf_get_clients(source))
    return client and client.initialized
  end, 5) then error("the server does not start") end

  vim.lsp.codelens.refresh()
  if not vim.wait(20000, function() return #vim.lsp.codelens.get(source) > 0 end, 5) then error("no code lenses") end
  vim.fn.search("def f0")
  vim.ui.select = function(items, options, choose)
    for i, item in ipairs(items) do
      if options.format_item(item):find("the module after", 1, true) then return choose(item, i) end
    end
    error("no code lens shows the module after the passes")
  end
  vim.lsp.codelens.run()
  wait_for("ir-opt:/after/", "R.nn.relu")
  -- It follows the source.
  local lines = vim.api.nvim_buf_get_lines(source, 0, -1, true)
  for i, line in ipairs(lines) do lines[i] = line:gsub("R%.nn%.relu", "R.nn.gelu") end
  vim.api.nvim_buf_set_lines(source, 0, -1, true, lines)
  wait_for("ir-opt:/after/", "R.nn.gelu")

  vim.api.nvim_set_current_win(window)
  vim.cmd("IrModule " .. vim.fn.fnameescape(vim.env.IR_OTHER))
  wait_for("ir-opt:/module/", "@I.ir_module")

  vim.api.nvim_set_current_win(window)
  vim.cmd("IrDiff " .. vim.fn.fnameescape(vim.env.IR_FILE) .. " " .. vim.fn.fnameescape(vim.env.IR_OTHER))
  wait_for("ir-opt:/diff/", "R.nn.gelu")

  vim.api.nvim_set_current_win(window)
  vim.ui.select = function(items, _, choose) choose(items[1]) end
  vim.cmd("IrPasses CanonicalizeBindings,DeadCodeElimination")
  wait_for("1-CanonicalizeBindings", "R.nn.gelu")
end)
finish(not ok and tostring(message) or nil)
