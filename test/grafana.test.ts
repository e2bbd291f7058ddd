import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { metricHelp } from '@edge-gateway/core';

const ROOT = join(import.meta.dirname, '..');
const FUNCTIONS = new Set(['sum', 'min', 'by', 'rate', 'increase', 'histogram_quantile', 'label_values']);
const LABELS = new Set(['descriptor', 'type', 'instance', 'le', 'envoy_cluster_name', 'envoy_response_code_class']);

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

/** The names in an expression that are neither functions nor labels. */
function metricsIn(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ');
  const names = (bare.match(/[a-z_]+/g) ?? []).filter((name) => !FUNCTIONS.has(name) && !LABELS.has(name));
  return names.map((name) => name.replace(/_bucket$/, ''));
}

describe('the Grafana dashboards', () => {
  const files = globSync('deploy/observability/dashboards/*.json', { cwd: ROOT });

  it('exist', () => expect(files).not.to.deep.equal([]));

  for (const file of files) {
    const { panels, templating } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Dashboard;
    const queries = templating.list.map(({ query }) => query).filter((query) => typeof query === 'object');
    const expressions = [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...queries.map(({ query }) => query),
    ];
    for (const expression of expressions) {
      it(`${file} queries known metrics: ${expression}`, () => {
        const metrics = metricsIn(expression);
        expect(metrics).not.to.deep.equal([]);
        expect(metrics.filter((metric) => metricHelp(metric) === metric)).to.deep.equal([]);
      });
    }
  }
});
