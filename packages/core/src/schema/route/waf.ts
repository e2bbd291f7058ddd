import * as f from '../field.ts';

const fields = f.block({
  disabled: f.flag('True disables the rules here; not inherited.'),
  customInterventionMessage: f.text('Body of a rejection.'),
  coreRuleSet: f.group('Adds the core rule set.', f.exclusive, {
    customSettingsString: f.text('Settings of the rule set.'),
    customSettingsFile: f.text('File with the settings.'),
  }),
  ruleSets: f.groups('Custom rules, in order.', {
    ruleStr: f.text('Rules.'),
    files: f.texts('Files with rules.'),
    directory: f.text('Directory with files of rules.'),
  }),
  configMapRuleSets: f.groups('Rules from ConfigMaps.', {
    configMapRef: f.ref('ConfigMap with rules.'),
    dataMapKeys: f.texts('Keys to use. Empty: all, sorted.'),
  }),
  auditLogging: f.group('Audit entries.', {
    action: f.choice(['NEVER', 'RELEVANT_ONLY', 'ALWAYS'], 'When an audit entry is made.'),
    location: f.choice(['FILTER_STATE', 'DYNAMIC_METADATA'], 'Where it is kept for the access log.'),
  }),
  requestHeadersOnly: f.flag('Does not inspect request bodies.'),
  responseHeadersOnly: f.flag('Does not inspect response bodies.'),
});
/** Web application firewall rules. */
export interface Waf extends f.Static<typeof fields> {}
export const Waf = f.named<Waf>('Waf', fields);
