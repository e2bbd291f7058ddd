import * as f from '../field.ts';

const policy = f.block({
  principals: f.groups('Principals; one must match.', {
    jwtPrincipal: f.group('A principal with these claims.', {
      claims: f.map(f.textOrBool(), 'Value by claim; all must match. With the matcher BOOLEAN also `true` or `false`.'),
      provider: f.text('Only tokens of this provider. Empty: any.'),
      matcher: f.choice(
        ['EXACT_STRING', 'BOOLEAN', 'LIST_CONTAINS', 'REGEX_MATCH'],
        'How a claim is compared with its value.',
      ),
    }),
  }),
  permissions: f.group('What the principals are allowed to do. Unset: everything.', {
    pathPrefix: f.text('Prefix of the path. Unset: any path.'),
    methods: f.texts('Allowed methods. Unset: all.'),
  }),
  nestedClaimDelimiter: f.text('Separator of the path to a nested claim, usually `.`. Empty: only top-level claims.', {
    default: '',
  }),
});
/** Principals and what they are allowed to do. */
export interface RbacPolicy extends f.Static<typeof policy> {}
export const RbacPolicy = f.named<RbacPolicy>('RbacPolicy', policy);

const fields = f.block({
  disable: f.flag('True disables RBAC here.'),
  policies: f.map(RbacPolicy, 'Policies by name; one of them must allow the request, no policies deny every request.'),
});
/** Access by the claims of verified tokens. */
export interface Rbac extends f.Static<typeof fields> {}
export const Rbac = f.named<Rbac>('Rbac', fields);
