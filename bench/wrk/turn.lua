-- A turn with its answer per request.
wrk.method = "POST"
wrk.path = "/api/v1/turns"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"user_id":"u1","text":"Which laptops under $1000 are good for games?",' ..
  '"response":"These three are the best in that range: ...","model":"gpt-4o-mini"}'
