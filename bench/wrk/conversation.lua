-- A turn with its answer per request, each the next of one of many conversations.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local count = require("counter")
function request()
  local id, n = count()
  local who = id .. "-" .. (n % 500)
  local body = '{"conversation_id":"talk-' .. who .. '","user_id":"user-' .. who .. '",' ..
    '"text":"What does part ' .. n .. ' of the contract say about refunds?",' ..
    '"response":"Part ' .. n .. ' says that they are paid within two weeks.","model":"gpt-4o-mini"}'
  return wrk.format(nil, "/api/v1/turns", nil, body)
end
