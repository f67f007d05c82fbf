-- One metric event per request; the server makes the ids.
wrk.method = "POST"
wrk.path = "/api/v1/feedback"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"type":"performance","source":"system_metric","category":"latency",' ..
  '"session_id":"c1","user_id":"u1","data":{"endpoint":"/query","latency_ms":412.5,' ..
  '"tokens_used":1200,"llm_provider":"openai","model":"gpt-4o-mini"}}'
