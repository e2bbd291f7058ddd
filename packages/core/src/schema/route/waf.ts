import { block, bool, enumeration, list, named, of, ref, text, type Static } from '../field.ts';

const fields = block({
  disabled: bool('True disables the rules here; not inherited.', { default: false }),
  customInterventionMessage: text('Body of a rejection.'),
  coreRuleSet: of(
    block(
      {
        customSettingsString: text('Settings of the rule set.'),
        customSettingsFile: text('File with the settings.'),
      },
      { oneOf: [{ members: ['customSettingsString', 'customSettingsFile'] }] },
    ),
    'Adds the core rule set.',
  ),
  ruleSets: list(
    block({
      ruleStr: text('Rules.'),
      files: list(text(), 'Files with rules.'),
      directory: text('Directory with files of rules.'),
    }),
    'Custom rules, in order.',
  ),
  configMapRuleSets: list(
    block({
      configMapRef: ref('ConfigMap with rules.'),
      dataMapKeys: list(text(), 'Keys to use. Empty: all, sorted.'),
    }),
    'Rules from ConfigMaps.',
  ),
  auditLogging: of(
    block({
      action: enumeration(['NEVER', 'RELEVANT_ONLY', 'ALWAYS'], 'When an audit entry is made.', { default: 'NEVER' }),
      location: enumeration(['FILTER_STATE', 'DYNAMIC_METADATA'], 'Where it is kept for the access log.', {
        default: 'FILTER_STATE',
      }),
    }),
    'Audit entries.',
  ),
  requestHeadersOnly: bool('Does not inspect request bodies.', { default: false }),
  responseHeadersOnly: bool('Does not inspect response bodies.', { default: false }),
});
/** Web application firewall rules. */
export interface Waf extends Static<typeof fields> {}
export const Waf = named<Waf>('Waf', fields);
