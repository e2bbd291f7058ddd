import type { FieldProblem, ResourceCheck } from '@edge-gateway/core';
import type { AuthConfigSpec, UserSession } from '@edge-gateway/core/schema';

type Path = FieldProblem['path'];

const HINT = 'set the host of a Redis, or run with --workers 1';

/** Returns the check that rejects AuthConfigs whose logins would work only if every request reached the same process. */
export function sharedSessionsCheck(workers: number): ResourceCheck {
  const problem = (path: Path, message: string, more: Partial<FieldProblem> = {}): FieldProblem => ({
    code: 'INVALID_AUTH_CONFIG',
    path,
    message: `${message} with --workers ${workers}`,
    hint: HINT,
    ...more,
  });

  function problemsOf({ redis, cookie }: UserSession, at: Path): FieldProblem[] {
    if (redis && !redis.options?.host)
      return [problem([...at, 'redis'], 'sessions cannot be stored in memory, which processes do not share,')];
    const { logoutDenyList, allowRefreshing } = cookie ?? {};
    const path = [...at, 'cookie'];
    if (logoutDenyList && !logoutDenyList.redis?.host)
      return [problem([...path, 'logoutDenyList'], 'logged-out sessions cannot be listed in memory')];
    if (!allowRefreshing) return [];
    const message = 'two processes may refresh the tokens of one session at the same time';
    const hint = 'store sessions in Redis if the provider accepts each refresh token only once';
    return [problem([...path, 'allowRefreshing'], message, { severity: 'warning', hint })];
  }

  return {
    kind: 'AuthConfig',
    check({ configs = [] }: AuthConfigSpec, at) {
      return configs.flatMap(({ oauth2 }, i) =>
        (['oidcAuthorizationCode', 'oauth2'] as const).flatMap((mode) => {
          const session = oauth2?.[mode]?.session;
          return session ? problemsOf(session, [...at, 'configs', i, 'oauth2', mode, 'session']) : [];
        }),
      );
    },
  };
}
