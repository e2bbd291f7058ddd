import { createHash } from 'node:crypto';

/**
 * Charges the counters of KEYS in order. Each of ARGV is a run of charges: `<algorithm><unit> <requests> <burst> <unitMs> <cost> <keys>`.
 * Returns the time of Redis in milliseconds, then for each charge the requests left, or `-1 - left` if it is over; a token bucket has the
 * milliseconds until more are left behind it. A text takes the place of both if the value of a key is not a counter.
 *
 * The semantics are those of the store in memory. Every key expires at the end of its window, or when its bucket is full. Fixed windows are
 * plain numbers, so that most charges are one command. A counter whose key lives longer than two windows is of a clock that went back: it
 * starts again. Other errors, e.g. of a full or read-only Redis, end the script.
 */
export const SCRIPT = `
local floor, ceil, max, min, match, format = math.floor, math.ceil, math.max, math.min, string.match, string.format
local MAX_SAFE = 9007199254740991
local DAY = 86400000
local LENGTHS = { s = 1000, m = 60000, h = 3600000, d = DAY, w = 7 * DAY }
local LONGEST = { s = 1000, m = 60000, h = 3600000, d = DAY, w = 7 * DAY, M = 31 * DAY, Y = 366 * DAY }
local time = redis.call('TIME')
local now = time[1] * 1000 + floor(time[2] / 1000)

-- Calendar of years that begin in March, after Howard Hinnant's days_from_civil and civil_from_days.
local function firstDay(year, month)
  if month <= 2 then year = year - 1 end
  local era = floor(year / 400)
  local yoe = year - era * 400
  local doe = yoe * 365 + floor(yoe / 4) - floor(yoe / 100) + floor((153 * ((month + 9) % 12) + 2) / 5)
  return (era * 146097 + doe - 719468) * DAY
end

local function calendar(at)
  local days = floor(at / DAY) + 719468
  local era = floor(days / 146097)
  local doe = days - era * 146097
  local yoe = floor((doe - floor(doe / 1460) + floor(doe / 36524) - floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + floor(yoe / 4) - floor(yoe / 100))
  local month = (floor((5 * doy + 2) / 153) + 2) % 12 + 1
  local year = yoe + era * 400
  if month <= 2 then year = year + 1 end
  return year, month
end

local function windowAt(unit, at)
  local length = LENGTHS[unit]
  if length then
    local offset = unit == 'w' and 4 * DAY or 0
    local start = floor((at - offset) / length) * length + offset
    return start, start + length
  end
  local year, month = calendar(at)
  if unit == 'Y' then return firstDay(year, 1), firstDay(year + 1, 1) end
  if month == 12 then return firstDay(year, 12), firstDay(year + 1, 1) end
  return firstDay(year, month), firstDay(year, month + 1)
end

-- Returns the text for a key that holds something else, and raises other errors.
local function rejected(reply)
  if match(reply.err, '^WRONGTYPE') or match(reply.err, 'not an integer') then return 'the value of a key is not a counter' end
  error(reply)
end

local function fixed(key, unit, requests, cost, finish)
  local count
  if cost == '0' then
    count = redis.pcall('GET', key)
    if type(count) == 'table' then return rejected(count) end
    count = tonumber(count or '0')
    if not count then return 'the value of a key is not a counter' end
  else
    count = redis.pcall('INCRBY', key, cost)
    if type(count) == 'table' then return rejected(count) end
    if count == tonumber(cost) then
      redis.call('PEXPIREAT', key, finish - 1)
    elseif count > requests then
      local left = redis.call('PTTL', key)
      if left < 0 or left > 2 * LONGEST[unit] then
        count = tonumber(cost)
        redis.call('SET', key, cost, 'PX', max(1, finish - 1 - now))
      elseif count > MAX_SAFE then
        redis.call('SET', key, '9007199254740991', 'PX', max(1, left))
      end
    end
  end
  if count > requests then return -1 end
  return requests - count
end

local function sliding(key, unit, requests, cost, start, finish)
  local value = redis.pcall('GET', key)
  if type(value) == 'table' then return rejected(value) end
  local count, earlier = 0, 0
  if value then
    local known, knownCount, knownEarlier = match(value, '^(%d+) (%d+) (%d+)$')
    if not known then return 'the value of a key is not a counter' end
    known = tonumber(known)
    if known > start and windowAt(unit, known - 1) == start then start, finish = windowAt(unit, known) end
    if known == start then
      count, earlier = tonumber(knownCount), tonumber(knownEarlier)
    elseif known == windowAt(unit, start - 1) then
      earlier = tonumber(knownCount)
    end
  end
  local length = finish - start
  local used = earlier * min(finish - now, length)
  local isOver = used + (count + cost) * length > requests * length
  if not isOver and cost > 0 then
    count = count + cost
    redis.call('SET', key, format('%.0f %.0f %.0f', start, count, earlier), 'PX', finish + LONGEST[unit] - now)
  end
  local left = max(0, floor(requests - count - used / length))
  if isOver then return -1 - left end
  return left
end

local function bucket(key, requests, burst, unitMs, cost)
  local capacity = requests == 0 and 0 or burst * unitMs
  local taken, at = 0, now
  local value = redis.pcall('GET', key)
  if type(value) == 'table' then return rejected(value) end
  if value then
    taken, at = match(value, '^(%d+) (%d+)$')
    if not taken then return 'the value of a key is not a counter' end
    taken, at = tonumber(taken), tonumber(at)
  end
  taken = max(0, taken - max(0, now - at) * requests)
  local isOver = taken + cost * unitMs > capacity
  if not isOver then taken = taken + cost * unitMs end
  if requests > 0 and taken > 0 and ((not isOver and cost > 0) or now < at) then
    redis.call('SET', key, format('%.0f %.0f', taken, now), 'PX', min(1e15, ceil(taken / requests)))
  end
  local free = max(0, capacity - taken)
  local left = floor(free / unitMs)
  local reset = unitMs
  if requests > 0 then
    local wanted = min(isOver and cost * unitMs or (left + 1) * unitMs, capacity)
    reset = max(0, min(MAX_SAFE, ceil((wanted - free) / requests)))
  end
  if isOver then left = -1 - left end
  return left, reset
end

local reply = { now }
local filled, used = 1, 0
for run = 1, #ARGV do
  local algorithm, unit, requests, burst, unitMs, cost, keys = match(ARGV[run], '^(%a)(%a) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  requests, burst, unitMs, keys = tonumber(requests), tonumber(burst), tonumber(unitMs), tonumber(keys)
  local start, finish = windowAt(unit, now)
  local number = tonumber(cost)
  for i = used + 1, used + keys do
    filled = filled + 1
    if algorithm == 'f' then
      reply[filled] = fixed(KEYS[i], unit, requests, cost, finish)
    elseif algorithm == 's' then
      reply[filled] = sliding(KEYS[i], unit, requests, number, start, finish)
    else
      local left, reset = bucket(KEYS[i], requests, burst, unitMs, number)
      reply[filled] = left
      filled = filled + 1
      reply[filled] = reset or 0
    end
  end
  used = used + keys
end
return reply
`;

/** Name of the script for EVALSHA. */
export const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');
