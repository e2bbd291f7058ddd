import type { X509Certificate } from 'node:crypto';
import { alternativeNames, certificateState, holderOf, type CertificateState } from '@edge-gateway/core';
import { certificatesOf, type CertificateUser } from '../../proxy/used-certificates.ts';
import { countText } from '../figures.ts';
import { href, html, type Content, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { filterForm, pagedRows, pager, wordsIn } from '../paging.ts';
import { PATHS, upstreamLink } from '../paths.ts';
import type { StatusSources } from '../sources.ts';
import { badge, tableOf, type Tone } from '../table.ts';

const DAY_MS = 86_400_000;
/** Names that a cell lists; further ones are counted. */
const MAX_NAMES = 8;
const TONES: Readonly<Record<CertificateState, Tone>> = {
  valid: 'good',
  expiring: 'warning',
  expired: 'bad',
  'not yet valid': 'bad',
};
const STATES = Object.keys(TONES) as CertificateState[];

interface CertificateRow {
  readonly certificate: X509Certificate;
  readonly state: CertificateState;
  /** What it is for: its place in the secret or file. */
  readonly role: string;
  readonly path: string;
  readonly users: readonly CertificateUser[];
}

/** The certificates in use, the ones that expire first at the top. */
export function certificatesPage(sources: StatusSources, parameters: URLSearchParams): PageBody {
  const [matches, state] = [wordsIn(parameters.get('q')), parameters.get('state')];
  const found = certificateRows(sources).filter(
    (row) => (!state || row.state === state) && matches(() => searchable(row)),
  );
  const paged = pagedRows(found, parameters);
  const filters = [
    { name: 'q', label: 'Name or source' },
    { name: 'state', label: 'State', values: STATES },
  ];
  return {
    path: PATHS.certificates,
    heading: 'Certificates',
    query: parameters.get('q') ?? '',
    content: html`${filterForm(PATHS.certificates, filters, parameters)}
<div id="certificates" data-live="change">${warningsOf(sources)}${certificateTable(paged.rows, sources.now())}${pager(PATHS.certificates, paged, parameters)}</div>`,
  };
}

/** Returns how many problems of the configuration are about certificates, such as names that one does not cover. */
export function countCertificateProblems(sources: StatusSources): number {
  return (sources.state?.()?.issues ?? []).filter(({ code }) => code === 'CERTIFICATE').length;
}

/** A link to the problems: the state of a certificate depends on its dates only. */
function warningsOf(sources: StatusSources): Content {
  const problems = countCertificateProblems(sources);
  return (
    problems > 0 &&
    html`<p><a href="${href(PATHS.problems, { severity: 'warning' })}">${countText(problems, 'problem')} of certificates</a></p>`
  );
}

/** Returns the state of every certificate in use. */
export function certificateStates(sources: StatusSources): readonly CertificateState[] {
  return certificateRows(sources).map(({ state }) => state);
}

function certificateRows(sources: StatusSources): CertificateRow[] {
  const now = sources.now();
  const used = [...certificatesOf(sources.snapshots(), sources.secrets()), ...(sources.ownCertificates?.() ?? [])];
  const rows = used.flatMap(({ path, chain, ca, users }) => {
    const rowOf = (certificate: X509Certificate, role: string): CertificateRow => {
      return { certificate, state: certificateState(certificate, now), role, path, users };
    };
    return [
      ...chain.map((each, i) => rowOf(each, i === 0 ? '' : 'sent with the one above')),
      ...ca.map((each) => rowOf(each, 'verifies peers')),
    ];
  });
  return rows.sort((a, b) => a.certificate.validToDate.getTime() - b.certificate.validToDate.getTime());
}

function searchable({ certificate, path }: CertificateRow): string {
  const { subject, subjectAltName = '' } = certificate;
  return [subject, subjectAltName, path].join(' ').toLowerCase();
}

function certificateTable(rows: readonly CertificateRow[], now: number): Markup {
  return tableOf({
    caption: 'Certificates',
    hidesCaption: true,
    columns: ['Subject', 'State', 'Expires', { name: 'Names', isWide: true }, 'Source', 'Used by'],
    empty: 'No certificate matches.',
    rows: rows.map(({ certificate, state, role, path, users }) => [
      [subjectOf(certificate), role && html` <small>${role}</small>`],
      badge(state, TONES[state]),
      expiryOf(certificate, now),
      namesOf(certificate),
      html`<code>${path}</code>`,
      users.map(userOf),
    ]),
  });
}

function subjectOf(certificate: X509Certificate): string {
  return certificate.subject ? certificate.subject.replaceAll('\n', ', ') : holderOf(certificate);
}

/** The end of a certificate, and the complete days until or since then. */
function expiryOf({ validFromDate, validToDate }: X509Certificate, now: number): Content {
  const ms = validToDate.getTime() - now;
  const count = Math.floor(Math.abs(ms) / DAY_MS);
  const days = `${count} ${count === 1 ? 'day' : 'days'}`;
  const ago = count === 0 ? 'less than 1 day ago' : `${days} ago`;
  const left = ms > 0 ? `in ${days}` : ago;
  const from = validFromDate.getTime() > now && html` <small>valid from ${dateOf(validFromDate)}</small>`;
  return [dateOf(validToDate), html` <small>${left}</small>`, from];
}

function dateOf(date: Date): Markup {
  const text = date.toISOString();
  return html`<time datetime="${text}" title="${text.slice(0, 16).replace('T', ' ')} UTC">${text.slice(0, 10)}</time>`;
}

function namesOf({ subjectAltName }: X509Certificate): string {
  const names = alternativeNames(subjectAltName).map(({ name }) => name);
  const rest = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function userOf({ kind, name, serverNames }: CertificateUser): Content {
  if (kind === 'upstream') return html`<div>upstream ${upstreamLink(name)}</div>`;
  const names = serverNames.length > 0 && html` <small>for ${serverNames.join(', ')}</small>`;
  return html`<div>${name}${names}</div>`;
}
