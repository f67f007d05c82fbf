-- Reactions on 10 000 turns that are there; each differs from the one before it on its turn.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local count = require("counter")
function request()
  local id, n = count()
  local turn = (n * 7919 + id * 5000) % 10000
  local path = "/conversations/default/default/c" .. (turn % 1000) .. "/turns/t" .. turn .. "/feedback"
  local word = (n % 2 == 0) and "ok" or "not_ok"
  return wrk.format(nil, path, nil, '{"reaction":"' .. word .. '","text":"remark ' .. n .. '"}')
end
