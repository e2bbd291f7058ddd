import { send } from './client.ts';
import { http2RequestsOf } from './http2/forms.ts';
import { sendHttp2 } from './http2/send-http2.ts';
import { logValues } from './log/log-fields.ts';
import type { ReadLog } from './log/read-log.ts';
import type { Message } from './message.ts';
import { fillIn, type PlacedGroup } from './placed-group.ts';
import type { Case } from './scenario.ts';
import { KEY } from './tunnel/handshakes.ts';
import { ownAddress } from './tls/client-socket.ts';
import type { Heard } from './tunnel/talk.ts';
import type { Version } from './versions.ts';

/** Everything that a client and the upstreams observe in one scenario, as text by field. */
export type Observation = Readonly<Record<string, string>>;

/** Of responses that may be a page instead, see docs/error-pages.md. */
const PAGE_VARY = 'accept, sec-fetch-mode, x-requested-with';
/** Envoy adds an address of the machine to that of the client. */
const OWN_ADDRESS = /(?<=^127\.0\.0\.2,).+$/;
/** That of the client of a logged scenario. */
const CLIENT = /127\.1\.\d+\.\d+/g;
const OWN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const RECEIVED_MS = 10_000;

/** Names of headers whose order among the others does not matter, because the gateway sets them. */
const UNORDERED =
  /^(:.*|date|server|content-length|transfer-encoding|connection|keep-alive|x-request-id|x-forwarded-.*|x-envoy-.*)$/;

/** Runs one scenario against a data plane, with a client of a version of HTTP. */
export async function observe(
  group: PlacedGroup,
  scenario: Case,
  version: Version,
  { port, log }: { readonly port: number; readonly log: ReadLog },
): Promise<Observation> {
  const { up, other } = group;
  up.play(scenario.upstream);
  other.play(scenario.upstream);
  const request = fillIn(group, scenario.request);
  const localAddress = scenario.logged && ownAddress();
  const target = { port, serverName: group.certificates && group.host, localAddress };
  const count = (): number => up.received.length + other.received.length;
  const untilReceived = (expected: number): Promise<void> => until(() => count() >= expected);
  const { responses, closed, stops, heard } =
    version === 1
      ? await send(target, [request].flat() as string[], scenario)
      : await sendHttp2(target, http2RequestsOf(request)!, { untilReceived, talk: scenario.talk });
  // The upstreams are in this process too, which may read the response to the client before the request that timed out.
  const isLate = responses.some(({ startLine }) => /\b504\b/.test(startLine));
  await untilReceived(scenario.received ?? (isLate ? 1 : 0));
  const fields: Record<string, string> = { closed: String(closed) };
  if (stops && stops.length > 0) fields['response stops the upload'] = stops.join(', ');
  if (scenario.resets && group.upstreamVersion === 2) {
    await until(() => up.resets.length > 0);
    fields['resets'] = up.resets.join(', ');
  }
  responses.forEach((message, index) =>
    addMessage(fields, index === 0 ? 'response' : `response ${index + 1}`, message),
  );
  if (heard) {
    await until(() => up.heard?.end !== '');
    Object.assign(fields, heardFields('tunnel', heard), heardFields('upstream tunnel', up.heard ?? NOTHING));
  }
  fields['requests'] = String(up.received.length + other.received.length);
  up.received.forEach((message, index) =>
    addMessage(fields, index === 0 ? 'request' : `request ${index + 1}`, message),
  );
  other.received.forEach((message, index) =>
    addMessage(fields, index === 0 ? 'other request' : `other request ${index + 1}`, message),
  );
  if (localAddress !== undefined) {
    const entries = await log.entriesOf(localAddress, responses.length);
    entries.forEach((entry, index) => {
      for (const [name, value] of logValues(entry)) fields[`log${index === 0 ? '' : ` ${index + 1}`} ${name}`] = value;
    });
  }
  // Both gateways may notice the end of the client before or after they forward its request.
  if (scenario.end) for (const name of Object.keys(fields)) if (name.startsWith('request')) delete fields[name];
  shortenCountdown(fields);
  if (!scenario.everything) shortenRejections(fields);
  if (!scenario.everything) removeEverywhere(fields);
  if (!scenario.ordered) for (const name of Object.keys(fields)) if (name.endsWith(' order')) delete fields[name];
  const known = new Map([
    [port, 'listener'],
    [up.port, 'up'],
    [other.port, 'other'],
  ]);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, normalize(value, known).replaceAll(group.host, '$$host')]),
  );
}

const NOTHING: Heard = { text: '', end: '' };

function heardFields(side: string, { text, end }: Heard): Record<string, string> {
  return { [`${side} text`]: text, [`${side} ends with`]: end };
}

/** Resolves when the condition is true, or after a while. */
async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + RECEIVED_MS;
  while (!condition() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Removes the differences of every request, which one scenario compares. */
function removeEverywhere(fields: Record<string, string>): void {
  for (const name of Object.keys(fields)) {
    const isPersistence = /^response.* connection$/.test(name) && fields[name] === 'keep-alive';
    if (fields[name] === PAGE_VARY && name.endsWith(' vary')) delete fields[name];
    // Of errors of the gateway itself; those of upstreams are no UUIDs.
    if (/^response.* x-request-id$/.test(name) && OWN_ID.test(fields[name]!)) delete fields[name];
    if (/^response.* retry-after$/.test(name) && fields[name.slice(0, -' retry-after'.length)]?.startsWith('429'))
      delete fields[name];
    if (isPersistence || /(^response.* keep-alive|request.* x-envoy-external-address)$/.test(name)) delete fields[name];
  }
}

/** Replaces the timeouts of further tries: the time so far is taken off, or none if it is less than a millisecond. */
function shortenCountdown(fields: Record<string, string>): void {
  const first = Number(fields['request x-envoy-expected-rq-timeout-ms']);
  for (const name of Object.keys(fields)) {
    const isRetry = /^request \d+ x-envoy-expected-rq-timeout-ms$/.test(name);
    if (isRetry && Number(fields[name]) <= first) fields[name] = '(the rest)';
  }
}

/** Replaces the headers and the body of an error in JSON by its code: Envoy has a short text or no body instead. */
function shortenRejections(fields: Record<string, string>): void {
  for (const name of Object.keys(fields)) {
    const code = name.endsWith(' body') && /^\{"code":"(ERR_\w+)"/.exec(fields[name]!)?.[1];
    if (!code) continue;
    const prefix = name.slice(0, -' body'.length);
    for (const each of Object.keys(fields)) if (each.startsWith(`${prefix} `)) delete fields[each];
    fields[`${prefix} code`] = code;
  }
}

function addMessage(fields: Record<string, string>, prefix: string, message: Message): void {
  const { startLine, headers, body, trailers, complete } = message;
  fields[prefix] = startLine.replace(/^HTTP\/1\.1 /, '');
  for (const [name, values] of Map.groupBy(headers, ([name]) => name.toLowerCase()))
    fields[`${prefix} ${name}`] = values.map(([, value]) => normalizeHeader(name, value)).join(' | ');
  fields[`${prefix} order`] = headers
    .map(([name]) => name)
    .filter((name) => !UNORDERED.test(name.toLowerCase()))
    .join(', ');
  if (body !== '') fields[`${prefix} body`] = body;
  // Only the order of values of one name has a meaning.
  const sorted = trailers.toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)));
  if (trailers.length > 0) fields[`${prefix} trailers`] = sorted.map((field) => field.join(': ')).join(', ');
  if (!complete) fields[`${prefix} is`] = 'cut off';
}

const UUID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;

/** Replaces what depends on time. */
function normalizeHeader(name: string, value: string): string {
  if (name === 'date') return '(date)';
  if (/^upgrade$/i.test(value)) return 'upgrade';
  if (name === 'x-forwarded-for') return value.replace(OWN_ADDRESS, '(own address)');
  if (name === 'x-envoy-upstream-service-time') return /^\d+$/.test(value) ? '(ms)' : value;
  if (name === 'sec-websocket-key') return value === KEY ? value : '(generated)';
  if (name === 'set-cookie') return value.replace(/"[\da-f]{16}"/, '"(hash)"');
  return value;
}

/** Replaces what differs from run to run: generated ids and the ports of this run. */
function normalize(value: string, ports: ReadonlyMap<number, string>): string {
  let text = value.replaceAll(UUID, '(uuid)').replaceAll(CLIENT, '(client)');
  for (const [port, name] of ports) text = text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), `(${name})`);
  return text;
}

const MESSAGE = /^(?:other )?re(?:quest|sponse)(?: \d+)?(?= |$)/;

/**
 * Returns the fields in which two observations differ, with both values; `-` is a missing field. If a status differs, or only one
 * of them has a message, the rest of that message is not compared.
 */
export function compare(ours: Observation, envoy: Observation): Differing {
  const differs = (name: string): boolean => ours[name] !== envoy[name];
  const isCompared = (name: string): boolean => {
    const message = MESSAGE.exec(name)?.[0];
    if (message === undefined || message === name) return !(differs('response') && name === 'closed');
    if (differs(message) || `${message} code` in ours) return false;
    return !(name === `${message} content-length` && differs(`${message} body`));
  };
  const names = [...new Set([...Object.keys(ours), ...Object.keys(envoy)])];
  const isOnlyForwarded = differs('response') && differs('requests');
  const differing = names.filter(
    (name) => differs(name) && isCompared(name) && !(isOnlyForwarded && /^(?:other )?request\b(?!s)/.test(name)),
  );
  return Object.fromEntries(differing.map((name) => [name, [ours[name] ?? '-', envoy[name] ?? '-']]));
}

/** Values of both sides by field. */
export type Differing = Readonly<Record<string, readonly [ours: string, envoy: string]>>;
