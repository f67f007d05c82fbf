-- Counts requests: gives a thread's number and how many it has made. `bench/src/wrk.rs` says where this file is.
local thread = 0
function setup(t)
  thread = thread + 1
  t:set("id", thread)
end
local n = 0
return function()
  n = n + 1
  return id, n
end
