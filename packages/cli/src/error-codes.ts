import { GatewayError, UnusableFile } from '@edge-gateway/core';

/**
 * Every error of this package: code → exit status of the program and message. Status 1 means that the work failed,
 * 2 that the call itself was wrong. Codes are never renamed or reused.
 */
export const ERROR_CODES = {
  ERR_CLI_BAD_ANSWER: { status: 1, message: 'The response of the server is not what the command expects.' },
  ERR_CLI_CHECK_FAILED: { status: 1, message: 'check found problems; they are listed one by one.' },
  ERR_CLI_EDITOR: { status: 1, message: 'The editor could not be started or exited with an error.' },
  ERR_CLI_EXISTS: { status: 1, message: 'A resource with this kind and name already exists.' },
  ERR_CLI_FILE: { status: 2, message: 'A file or directory is missing or cannot be read.' },
  ERR_CLI_HELM: { status: 1, message: 'Helm could not be started, or failed.' },
  ERR_CLI_LOCKED: { status: 1, message: 'Another gatewayctl is changing the directory.' },
  ERR_CLI_NAMESPACE: { status: 1, message: 'The namespace is empty or not watched.' },
  ERR_CLI_NOT_FOUND: { status: 1, message: 'The resource, proxy, listener or port does not exist.' },
  ERR_CLI_PLUGIN: { status: 1, message: 'A gatewayctl-<name> program could not be started.' },
  ERR_CLI_REFUSED: { status: 1, message: 'The server responded with an error status.' },
  ERR_CLI_REJECTED: { status: 1, message: 'A gateway would reject the change, so it was not written.' },
  ERR_CLI_SUBCOMMAND: { status: 2, message: 'A command group was called without a subcommand.' },
  ERR_CLI_TOO_LARGE: { status: 1, message: 'The response of the server is larger than 256 MiB.' },
  ERR_CLI_UNEXPECTED: {
    status: 1,
    message: 'The outcome of explain is not the one of --expect-status, or is not known.',
  },
  ERR_CLI_UNREACHABLE: { status: 1, message: 'No gateway responds at the address.' },
  ERR_CLI_USAGE: { status: 2, message: 'Unknown command or flag, or an invalid value.' },
} as const satisfies Record<string, { status: 1 | 2; message: string }>;

/** A code of {@link ERROR_CODES}. */
export type CliErrorCode = keyof typeof ERROR_CODES;

/** Creates the error of a code; its `status` is the exit status. The message is one line with a remedy. */
export function cliError(code: CliErrorCode, message: string, cause?: unknown): GatewayError {
  return new GatewayError(message, { code, status: ERROR_CODES[code].status, cause });
}

/** Returns true for an error of {@link cliError}. */
export function isCliError(error: unknown): boolean {
  return String((error as { code?: unknown } | undefined)?.code).startsWith('ERR_CLI_');
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  EISDIR: 'is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** Reports a file or directory that cannot be read, in one line. */
export function fileError(path: string, error: unknown): GatewayError {
  if (error instanceof UnusableFile) return cliError('ERR_CLI_FILE', `${path}: ${error.message}`, error);
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown';
  return cliError('ERR_CLI_FILE', `${path}: ${FILE_REASONS[code] ?? `cannot be read (${code})`}`, error);
}
