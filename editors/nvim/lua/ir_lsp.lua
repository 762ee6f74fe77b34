-- ir-lsp in Neovim 0.7 and newer.
--
--   require("ir_lsp").setup({ cmd = { "ir-lsp" } })
local M = {}

M.config = {
  cmd = { "ir-lsp" },
  filetypes = { "tvmscript" },
  -- Names of files and folders that mark the root of a project.
  root_markers = { ".git", "CMakeLists.txt" },
  on_attach = nil,
}

local function root_of(path)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  local at = folder
  while true do
    for _, marker in ipairs(M.config.root_markers) do
      if vim.loop.fs_stat(at .. "/" .. marker) then return at end
    end
    local parent = vim.fn.fnamemodify(at, ":h")
    if parent == at then return folder end
    at = parent
  end
end

local clients = {} -- by root

-- The text of a virtual document of the server, such as the module after a pass, in a window beside this one.
function M.show(uri, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  client.request("ir/content", { uri = uri }, function(err, result)
    if err then return vim.notify(err.message, vim.log.levels.ERROR) end
    local name = uri:gsub("%%2[fF]", "/")
    local buffer = vim.fn.bufnr(name)
    if buffer < 0 then
      vim.cmd("vertical new")
      buffer = vim.api.nvim_get_current_buf()
      vim.api.nvim_buf_set_name(buffer, name)
    end
    vim.bo[buffer].buftype = "nofile"
    vim.bo[buffer].modifiable = true
    vim.api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split(result.text, "\n"))
    vim.bo[buffer].modifiable = false
    vim.bo[buffer].filetype = result.language or "tvmscript"
  end)
end

-- Starts the server for a buffer, or joins the one of its project.
function M.attach(buffer)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  if not clients[root] then
    local id
    id = vim.lsp.start_client({
      name = "ir-lsp",
      cmd = M.config.cmd,
      root_dir = root,
      on_attach = M.config.on_attach,
      flags = M.config.flags,
      commands = {
        ["ir.show"] = function(command) M.show(command.arguments[1], id) end,
      },
      get_language_id = function(_, filetype) return filetype end,
      on_exit = function() clients[root] = nil end,
    })
    clients[root] = id
  end
  if clients[root] then vim.lsp.buf_attach_client(buffer, clients[root]) end
  return clients[root]
end

function M.setup(config)
  M.config = vim.tbl_extend("force", M.config, config or {})
  local group = vim.api.nvim_create_augroup("ir_lsp", { clear = true })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = M.config.filetypes,
    callback = function(args) M.attach(args.buf) end,
  })
end

return M
