import { expect } from 'chai';
import { generate, outdated } from '../../../scripts/docs.ts';

describe('the generated reference', () => {
  it('matches the schemas and error tables; `npm run docs` writes it', async () => {
    expect(await outdated()).deep.equal([]);
  });

  it('has a page and an editor schema for every kind', async () => {
    const files = [...(await generate()).keys()];
    expect(files.filter((path) => path.startsWith('docs/reference/resources/'))).length(18);
    expect(files.filter((path) => path.startsWith('docs/reference/schemas/'))).length(19);
    expect(files).include.members([
      'docs/reference/support.md',
      'docs/reference/errors.md',
      'docs/reference/gatewayctl.md',
      'docs/reference/resources/virtualservice.md',
      'docs/reference/schemas/VirtualService.json',
      'packages/cli/man/gatewayctl-add.1',
    ]);
  });
});
