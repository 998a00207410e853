#!lua flags=allow-oom
-- Settles many deliveries of one queue, each only if this consumer still owns it. The body never travels back: a copy is made here.
-- KEYS  stream, due set, delayed hash, dead stream
-- ARGV  group, consumer, then operations:
--         a id                              done
--         r id delay-ms token n name value..  again: after the delay, or with none to the tail at once
--         d id n name value..               dead letter
--       n names and values override those of the entry.
-- Gives for each operation: 0 done, 1 not pending, 2 another consumer's, 3 the entry is gone (acknowledged: it is lost), or the text of an error.
local s, z, h, d = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local group, consumer = ARGV[1], ARGV[2]
local now = nil
local function ms()
  if not now then local t = redis.call('TIME'); now = t[1] * 1000 + math.floor(t[2] / 1000) end
  return now
end
local function copy(id, at, n)
  local entry = redis.call('XRANGE', s, id, id)[1]
  if not entry then return nil end
  local f, set = entry[2], {}
  if #f + 2 * n > 4000 then error('the entry has too many fields to be copied') end
  for k = at, at + 2 * n - 1, 2 do set[ARGV[k]] = ARGV[k + 1] end
  for k = 1, #f, 2 do local v = set[f[k]]; if v then f[k + 1] = v; set[f[k]] = nil end end
  for k, v in pairs(set) do f[#f + 1] = k; f[#f + 1] = v end
  return f
end
local function put(op, id, at)
  if op == 'd' then
    local f = copy(id, at + 1, tonumber(ARGV[at]))
    if not f then return 3 end
    redis.call('XADD', d, '*', unpack(f))
    return 0
  end
  local delay, token = tonumber(ARGV[at]), ARGV[at + 1]
  local f = copy(id, at + 3, tonumber(ARGV[at + 2]))
  if not f then return 3 end
  if delay == 0 then redis.call('XADD', s, '*', unpack(f)); return 0 end
  redis.call('HSET', h, token, cmsgpack.pack(f))
  redis.call('ZADD', z, ms() + delay, token)
  return 0
end
local out, i = {}, 3
while i <= #ARGV do
  local op, id, at = ARGV[i], ARGV[i + 1], i + 2
  if op == 'a' then i = at
  elseif op == 'd' then i = at + 1 + 2 * tonumber(ARGV[at])
  else i = at + 3 + 2 * tonumber(ARGV[at + 2]) end
  local pending, r = redis.call('XPENDING', s, group, id, id, 1)[1], 0
  if not pending then r = 1
  elseif pending[2] ~= consumer then r = 2
  elseif op ~= 'a' then
    local ok, e = pcall(put, op, id, at)
    if ok then r = e elseif type(e) == 'table' then r = e.err or 'unknown error' else r = tostring(e) end
  end
  if r == 0 or r == 3 then redis.call('XACK', s, group, id); redis.call('XDEL', s, id) end
  out[#out + 1] = r
end
return out
