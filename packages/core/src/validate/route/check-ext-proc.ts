import { parseDuration } from '../../syntax/duration.ts';
import type { ExtProc, ExtProcRoute } from '../../schema/route/ext-proc.ts';
import { fields, reporterOf, type Check } from '../check.ts';

const MAX_MESSAGE_MS = 3_600_000;
const invalid = reporterOf('INVALID_EXT_PROC');

/** Returns problems of external processing. */
const checkExtProc: Check<ExtProc> = ({ grpcService, messageTimeout }, at) => {
  const ms = messageTimeout === undefined ? 1 : parseDuration(messageTimeout);
  return [
    ...invalid((ms <= 0 || ms > MAX_MESSAGE_MS) && 'messageTimeout must be more than 0s and at most 1h', [
      ...at,
      'messageTimeout',
    ]),
    ...invalid(grpcService && !grpcService.extProcServerRef?.name && 'external processing needs a server', at, {
      hint: 'grpcService.extProcServerRef',
    }),
  ];
};

/** Returns problems of external processing at one level. */
const checkExtProcRoute: Check<ExtProcRoute> = (options, at) => fields(options, at, { overrides: checkExtProc });

/** The checks of the three blocks, by their option. */
export const EXT_PROC_CHECKS = {
  extProc: checkExtProc,
  extProcEarly: checkExtProc,
  extProcLate: checkExtProc,
} as const;
export const EXT_PROC_ROUTE_CHECKS = {
  extProc: checkExtProcRoute,
  extProcEarly: checkExtProcRoute,
  extProcLate: checkExtProcRoute,
} as const;
