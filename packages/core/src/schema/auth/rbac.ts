import { block, bool, enumeration, list, map, named, of, text, textOrBool, type Static } from '../field.ts';

const policy = block({
  principals: list(
    block({
      jwtPrincipal: of(
        block({
          claims: map(textOrBool(), 'Value by claim; all must match. With the matcher BOOLEAN also `true` or `false`.'),
          provider: text('Only tokens of this provider. Empty: any.'),
          matcher: enumeration(
            ['EXACT_STRING', 'BOOLEAN', 'LIST_CONTAINS', 'REGEX_MATCH'],
            'How a claim is compared with its value.',
            { default: 'EXACT_STRING' },
          ),
        }),
        'A principal with these claims.',
      ),
    }),
    'Principals; one must match.',
  ),
  permissions: of(
    block({
      pathPrefix: text('Prefix of the path. Unset: any path.'),
      methods: list(text(), 'Allowed methods. Unset: all.'),
    }),
    'What the principals are allowed to do. Unset: everything.',
  ),
  nestedClaimDelimiter: text('Separator of the path to a nested claim, usually `.`. Empty: only top-level claims.', {
    default: '',
  }),
});
/** Principals and what they are allowed to do. */
export interface RbacPolicy extends Static<typeof policy> {}
export const RbacPolicy = named<RbacPolicy>('RbacPolicy', policy);

const fields = block({
  disable: bool('True disables RBAC here.', { default: false }),
  policies: map(RbacPolicy, 'Policies by name; one of them must allow the request, no policies deny every request.'),
});
/** Access by the claims of verified tokens. */
export interface Rbac extends Static<typeof fields> {}
export const Rbac = named<Rbac>('Rbac', fields);
