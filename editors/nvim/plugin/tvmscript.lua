-- Files of tensor programs. Python files that hold modules only get the type from their users.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = "*.ir",
  callback = function() vim.bo.filetype = "tvmscript" end,
})
