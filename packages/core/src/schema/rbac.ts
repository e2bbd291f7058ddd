import { block, bool, enumeration, list, map, named, of, text, textOrBool, type Static } from './field.ts';

const policy = block({
  principals: list(
    block({
      jwtPrincipal: of(
        block({
          claims: map(
            textOrBool(),
            'Value by claim; all have to match. With the matcher BOOLEAN also `true` or `false`.',
          ),
          provider: text('Only tokens of this provider. Empty: any.'),
          matcher: enumeration(
            ['EXACT_STRING', 'BOOLEAN', 'LIST_CONTAINS', 'REGEX_MATCH'],
            'How a claim is compared with its value.',
            { default: 'EXACT_STRING' },
          ),
        }),
        'Someone with these claims.',
      ),
    }),
    'Who may; any of them.',
  ),
  permissions: of(
    block({
      pathPrefix: text('How the path has to begin. Unset: any path.'),
      methods: list(text(), 'Methods allowed. Unset: all.'),
    }),
    'What they may. Unset: everything.',
  ),
  nestedClaimDelimiter: text('What separates the steps to a nested claim, usually `.`. Empty: top-level claims only.', {
    default: '',
  }),
});
/** Who may do what. */
export interface RbacPolicy extends Static<typeof policy> {}
export const RbacPolicy = named<RbacPolicy>('RbacPolicy', policy);

const fields = block({
  disable: bool('True exempts this place.', { default: false }),
  policies: map(RbacPolicy, 'Policies by name; one of them has to allow the request, none denies all.'),
});
/** Access by the claims of verified tokens. */
export interface Rbac extends Static<typeof fields> {}
export const Rbac = named<Rbac>('Rbac', fields);
