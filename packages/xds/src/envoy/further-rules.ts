import { compileRegex } from '@edge-gateway/core';
import { envoyFormatProblem, type EnvoyMessage } from '@edge-gateway/core/envoy';

/** What Envoy checks besides the rules in its definitions, by message. Returns what is wrong. */
export const FURTHER_RULES: Readonly<Record<string, (message: EnvoyMessage) => string | undefined>> = {
  'envoy.type.matcher.v3.RegexMatcher': ({ regex }) => regexProblem(String(regex)),
  'envoy.config.core.v3.HeaderValueOption': ({ header }) =>
    envoyFormatProblem(String((header as EnvoyMessage | undefined)?.['value'] ?? '')),
  'envoy.config.route.v3.WeightedCluster': ({ clusters = [] }) => {
    const sum = (clusters as readonly EnvoyMessage[]).reduce((all, { weight = 0 }) => all + Number(weight), 0);
    return sum > MAX_WEIGHT ? `the sum of the weights is above ${MAX_WEIGHT}` : undefined;
  },
  'envoy.config.core.v3.Pipe': ({ path }) =>
    Buffer.byteLength(String(path)) > MAX_SOCKET_PATH
      ? `the path of a socket has more than ${MAX_SOCKET_PATH} bytes`
      : undefined,
};

const MAX_WEIGHT = 4_294_967_295;
const MAX_SOCKET_PATH = 107;
/** Envoy matches bytes: there is no larger code point. */
const LARGE_CODE_POINT = /\\x\{0*[1-9a-f][\da-f]{2,}\}/i;

function regexProblem(regex: string): string | undefined {
  if (LARGE_CODE_POINT.test(regex)) return `Envoy does not accept the escape in ${regex}`;
  try {
    compileRegex(regex);
    return undefined;
  } catch (error) {
    return `invalid regular expression ${regex}: ${(error as Error).message}`;
  }
}
