/** Someone who can log in at the demo's identity provider. */
export interface DemoUser {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly groups: readonly string[];
}

/** The users of the demo. The login page shows their passwords. */
export const DEMO_USERS: readonly DemoUser[] = [
  { email: 'admin@example.com', name: 'Ada Admin', password: 'admin', groups: ['admins', 'staff'] },
  { email: 'user@example.com', name: 'Uwe User', password: 'user', groups: ['staff'] },
];

/** The user with this address and password. */
export function userOf(email: string, password: string): DemoUser | undefined {
  return DEMO_USERS.find((user) => user.email === email && user.password === password);
}
