# Fails unless the module in the file has 60 relus.
test "$(grep -c nn.relu "$1")" = 60
