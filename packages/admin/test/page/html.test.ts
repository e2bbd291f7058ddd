import { expect } from 'chai';
import { href, html } from '../../src/page/html.ts';

describe('html', () => {
  it('escapes text, also in quoted attributes', () => {
    const name = `<script>alert("1")</script>'&`;
    expect(html`<b title="${name}">${name}</b>`.text).to.not.match(/<script|"1"|alert\("/);
    expect(html`${name}`.text).to.equal('&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#39;&#38;');
  });

  it('inserts markup as it is, joins lists, and leaves out what is missing', () => {
    const items = ['<', html`<i>b</i>`, undefined, false as const, 0];
    expect(html`<p>${items}</p>`.text).to.equal('<p>&#60;<i>b</i>0</p>');
  });

  it('does not insert objects that only look like markup', () => {
    const forged = { text: '<script>' } as never;
    expect(() => html`${forged}`.text).to.throw();
  });
});

describe('href', () => {
  it('encodes values and leaves out empty ones', () => {
    expect(href('/a', { q: 'x y&z', page: 2, none: '', other: undefined })).to.equal('/a?q=x+y%26z&page=2');
    expect(href('/a')).to.equal('/a');
  });
});
