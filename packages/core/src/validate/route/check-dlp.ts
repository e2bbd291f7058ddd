import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { Dlp, DlpListener } from '../../schema/route/dlp.ts';
import { isHeaderName } from '../../http/reserved-headers.ts';
import { compileRegex } from '../../syntax/regex.ts';
import { each, fields, reporterOf, thrownBy, type Check } from '../check.ts';

type Action = NonNullable<Dlp['actions']>[number];

const invalid = reporterOf('INVALID_DLP');

/** Returns problems of masking on a virtual host or route. */
export const checkDlp: Check<Dlp> = ({ actions, enabledFor }, at) =>
  each(actions, [...at, 'actions'], (action, path) => checkAction(action, path, enabledFor));

/** Returns problems of masking on a listener. */
export const checkListenerDlp: Check<DlpListener> = ({ dlpRules, enabledFor }, at) =>
  each(dlpRules, [...at, 'dlpRules'], ({ actions }, path) => checkDlp({ actions: actions ?? [], enabledFor }, path));

function checkAction(action: Action, at: FieldPath, enabledFor: Dlp['enabledFor']): FieldProblem[] {
  const { actionType = 'CUSTOM', customAction, keyValueAction } = action;
  const patterns = (customAction?.regex?.length ?? 0) + (customAction?.regexActions?.length ?? 0);
  const isByKey = actionType === 'KEYVALUE';
  const inBodies = (enabledFor ?? 'RESPONSE_BODY') === 'RESPONSE_BODY';
  return [
    ...invalid(actionType === 'CUSTOM' && patterns === 0 && 'a custom action needs an expression', at, {
      hint: 'customAction.regexActions',
    }),
    ...invalid(isByKey && !keyValueAction && 'the action has no key to mask', at, { hint: 'keyValueAction' }),
    ...invalid(isByKey && inBodies && 'values are masked by key only with enabledFor ACCESS_LOGS or ALL', at),
    ...fields(action, at, { customAction: checkCustom, keyValueAction: checkByKey }),
  ];
}

const checkCustom: Check<NonNullable<Action['customAction']>> = ({ maskChar, regexActions }, at) => [
  ...checkMaskChar(maskChar, at),
  ...each(regexActions, [...at, 'regexActions'], ({ regex = '', subgroup = 0 }, path) => {
    if (regex === '') return invalid('the action has no expression', path, { hint: 'regex' });
    let groups = 0;
    // An invalid expression is reported by its field.
    if (thrownBy(() => (groups = compileRegex(regex).groupCount)) !== undefined) return [];
    return invalid(subgroup > groups && `the expression has ${groups} groups, so it has no group ${subgroup}`, path);
  }),
];

const checkByKey: Check<NonNullable<Action['keyValueAction']>> = ({ maskChar, keyToMask = '' }, at) => [
  ...checkMaskChar(maskChar, at),
  ...invalid(!isHeaderName(keyToMask) && `invalid key '${keyToMask}': use the name of a header or metadata`, at),
];

function checkMaskChar(char: string | undefined, at: FieldPath): FieldProblem[] {
  const isValid = char === undefined || char === '' || /^[\x20-\x7e]$/.test(char);
  return invalid(!isValid && `invalid maskChar '${char}': one ASCII character is required`, [...at, 'maskChar']);
}
