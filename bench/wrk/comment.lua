-- A comment per request, each on a turn of its own; the server makes the event's id.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local count = require("counter")
function request()
  local id, n = count()
  local body = '{"type":"explicit","source":"user_comment","category":"user_satisfaction",' ..
    '"session_id":"c' .. id .. "-" .. math.floor(n / 10) .. '","message_id":"t' .. id .. "-" .. n .. '",' ..
    '"user_id":"u' .. (n % 1000) .. '","data":{"comment":"The total of part ' .. n .. ' is missing."}}'
  return wrk.format(nil, "/api/v1/feedback", nil, body)
end
