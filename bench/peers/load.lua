-- Sends one feedback per request: PATH and BODY, in which {id} is one of the lines of IDS in turn, {n} a number
-- that never comes twice, and {label} ok and {rating} positive four times out of five.
local path, body, tag, ids, n = "", "", "", {}, 0

function init(arguments)
  path, body, tag = arguments[1], arguments[2], arguments[4]
  for line in io.lines(arguments[3]) do ids[#ids + 1] = line end
end

local function filled(text)
  local values = { id = ids[n % #ids + 1], n = tag .. "-" .. n, label = n % 5 == 0 and "not_ok" or "ok",
    rating = n % 5 == 0 and "negative" or "positive" }
  return (text:gsub("{(%l+)}", values))
end

function request()
  n = n + 1
  return wrk.format("POST", filled(path), wrk.headers, filled(body))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('figures {"per_second": %.1f, "p50_ms": %.3f, "p99_ms": %.3f, "requests": %d, "refused": %d}\n',
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.requests, errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
