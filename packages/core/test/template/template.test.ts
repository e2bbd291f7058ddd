import { expect } from 'chai';
import { compileTemplate, type TemplateSyntax } from '../../src/template/template.ts';
import type { TemplateData } from '../../src/template/run.ts';
import type { Value } from '../../src/template/value.ts';

const VARIABLES: Readonly<Record<string, Value>> = {
  name: 'Ada',
  empty: '',
  nothing: null,
  list: ['a', 'b', 'c'],
  numbers: [3, 1, 2],
  user: { name: 'Ada', tags: ['x', { deep: 'y' }] },
  'with-dash': 'dash',
};

/** Data that echoes what it is asked for. */
export const DATA: TemplateData = {
  variable: (name) => (Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined),
  header: (name) => `h:${name}`,
  requestHeader: (name) => `r:${name}`,
  extraction: (name) => `x:${name}`,
  env: (name) => `e:${name}`,
  dynamicMetadata: (key, namespace = '-') => `d:${namespace}:${key}`,
  hostMetadata: (key, namespace = '-') => `hm:${namespace}:${key}`,
  clusterMetadata: (key, namespace = '-') => `c:${namespace}:${key}`,
  body: () => 'the body',
  context: () => ({ a: [1] }),
};

const render = (source: string, syntax?: TemplateSyntax) => compileTemplate(source, syntax).render(DATA);

describe('templates', () => {
  const cases: [string, string][] = [
    ['plain text', 'plain text'],
    ['{{ name }}', 'Ada'],
    ['a{{name}}b{{ name }}', 'aAdabAda'],
    ['{{ user.name }} {{ user.tags.1.deep }} {{ with-dash }}', 'Ada y dash'],
    ['{{ "a\\u0041\\"\\n" }}', 'aA"\n'],
    ['{{ \'single "quotes"\' }}', 'single "quotes"'],
    ['{{ nothing }}{{ null }}{{ true }}', 'true'],
    ['{{ [1, "a", null, {"b": [true]}] }}', '[1,"a",null,{"b":[true]}]'],
    ['{{ {"a":{"b":1}}}}', '{"a":{"b":1}}'],
    ['é{{ "é" }}', 'Ã©Ã©'],
    // Operators
    ['{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 2 ^ 3 ^ 2 }} {{ 7 % 4 }} {{ 1 / 4 }} {{ 5 - 2 - 1 }}', '7 9 512 3 0.25 2'],
    ['{{ -3 + 1 }} {{ "a" + "b" }} {{ 1.5e1 }}', '-2 ab 15'],
    ['{{ 1 < 2 }} {{ 2 <= 1 }} {{ "b" > "a" }} {{ 1 >= 1 }}', 'true false true true'],
    ['{{ name == "Ada" }} {{ [1,{"a":2}] == [1,{"a":2}] }} {{ 1 != 1 }} {{ 1 == "1" }}', 'true true false false'],
    ['{{ "b" in list }} {{ "z" in list }} {{ "Ada" in user }}', 'true false true'],
    ['{{ not name }} {{ not empty }} {{ not false == true }}', 'false true true'],
    ['{{ true or false and false }} {{ false and nobody }} {{ true or nobody }}', 'false false true'],
    // Statements
    ['{% if name %}yes{% else %}no{% endif %}', 'yes'],
    ['{% if empty %}1{% else if nothing %}2{% else if list %}3{% else %}4{% endif %}', '3'],
    [
      '{% for x in list %}{{ loop.index }}{{ loop.index1 }}{{ x }}{% if not loop.is_last %},{% endif %}{% endfor %}',
      '01a,12b,23c',
    ],
    ['{% for k, v in user %}{{ k }}={{ v }};{% endfor %}', 'name=Ada;tags=["x",{"deep":"y"}];'],
    [
      '{% for x in list %}{% for y in numbers %}{{ loop.parent.index }}{{ y }}{% endfor %}{% endfor %}',
      '030102131112232122',
    ],
    ['{% for name in list %}{{ name }}{% endfor %}{{ name }}', 'abcAda'],
    ['{% set x = 3 %}{{ x + 1 }}{% set name = "B" %}{{ name }}', '4B'],
    ['{# comment {{ #}a{#- cut -#} b', 'ab'],
    ['a {#-#} b', 'a b'],
    [`${'{% if name %}'.repeat(32)}a${'{% endif %}'.repeat(32)}`, 'a'],
    ['a\n## set y = 2\nb{{ y }}', 'a\nb2'],
    ['## for x in list\n{{ x }}\n## endfor', 'a\nb\nc\n'],
    ['a  {{- name -}}  b {%- if true -%} c {%- endif %} d', 'aAdabc d'],
    ['a # b ## c', 'a # b ## c'],
    // Functions
    ['{{ upper("aé") | lower }} {{ name | upper }} {{ list | join("-") }}', 'aÃ© ADA a-b-c'],
    ['{{ default(nobody, "d") }} {{ nobody.x | default("p") }} {{ default(name, "d") }}', 'd p Ada'],
    ['{{ exists("user.name") }} {{ exists("user.x") }} {{ existsIn(user, "tags") }}', 'true false true'],
    [
      '{{ at(list, 1) }} {{ at(user, "name") }} {{ first(list) }} {{ last(list) }} {{ length(list) }}{{ length("abc") }}',
      'b Ada a c 33',
    ],
    [
      '{{ sort(numbers) }} {{ max(numbers) }} {{ min(numbers) }} {{ range(3) }} {{ range(-1) }}',
      '[1,2,3] 3 1 [0,1,2] []',
    ],
    [
      '{{ round(3.14159, 2) }} {{ round(-2.5, 0) }} {{ int("12px") }} {{ float("2.5") }} {{ int(2.9) }}',
      '3.14 -3 12 2.5 2',
    ],
    ['{{ odd(3) }} {{ even(3) }} {{ divisibleBy(9, 3) }}', 'true false true'],
    [
      '{{ isString("a") }}{{ isNumber(1) }}{{ isInteger(1.5) }}{{ isFloat(1.5) }}{{ isArray(list) }}{{ isObject(user) }}{{ isBoolean(true) }}',
      'truetruefalsetruetruetruetrue',
    ],
    [
      '{{ header("a") }} {{ request_header("b") }} {{ extraction("c") }} {{ env("d") }} {{ body() }} {{ context() }}',
      'h:a r:b x:c e:d the body {"a":[1]}',
    ],
    [
      '{{ dynamic_metadata("a") }} {{ dynamic_metadata("a:b", "n") }} {{ host_metadata("c") }} {{ cluster_metadata("d") }} {{ clusterMetadata("e") }}',
      'd:-:a d:n:a:b hm:-:c c:-:d c:-:e',
    ],
    [
      '{{ base64_encode("a?>") }} {{ base64_decode("YT8+") }} {{ base64url_encode("a?>") }} {{ base64url_decode("YT8-") }}',
      'YT8+ a?> YT8- a?>',
    ],
    ['{{ url_encode("a-b._~/?#&=+ %") }}', 'a-b._~%2F%3F%23%26%3D%2B%20%25'],
    ['{{ url_encode(7) }} {{ url_encode(true) }} {{ url_encode(name) }}', '7 true Ada'],
    [
      '[{{ base64_decode("%%") }}{{ base64_decode("YQ") }}{{ base64url_decode("Y") }}{{ base64url_decode("+/==") }}]',
      '[]',
    ],
    [
      '{{ substring("hello", 1, 3) }} {{ substring("hello", 3) }} {{ substring("hello", 1, 0) }} {{ substring("hello", 2, 99) }}',
      'ell lo ello llo',
    ],
    ['[{{ substring("a", -1) }}{{ substring("a", 1) }}{{ substring("a", "0") }}{{ substring("a", 0.5) }}]', '[]'],
    ['{{ raw_string("a\\"b\\n") }}', 'a\\"b\\n'],
    ['{{ base64_decode("YQ==") }}{{ base64_decode("YWI=") }}{{ base64url_decode("YQ==") }}', 'aaba'],
    [
      '[{{ base64_decode("YQ=") }}{{ base64_decode("Y===") }}{{ base64_decode("=") }}{{ base64url_decode("YQ=") }}]',
      '[]',
    ],
    ['{{ word_count("voilàb c") }}', '2'],
    ['{{ word_count("  a b\tc ") }} {{ word_count(user) }} {{ word_count([1, true, null]) }}', '3 6 2'],
  ];
  for (const [source, wanted] of cases) {
    it(`render ${JSON.stringify(source)}`, () => {
      expect(render(source)).to.equal(wanted);
    });
  }

  it('stay fast on endless padding', () => {
    const padded = { ...DATA, header: () => `${'='.repeat(400_000)}a` };
    expect(compileTemplate('{{ base64_decode(header("a")) }}').render(padded)).to.equal('');
    expect(compileTemplate('{{ base64url_decode(header("a")) }}').render(padded)).to.equal('');
  });

  it('keep JSON escapes on request', () => {
    expect(render('{{ "a\\"\\n" }}"', { escape: true })).to.equal('a\\"\\n"');
  });

  it('read paths as pointers on request', () => {
    expect(render('{{ user/tags/1/deep }}', { pointers: true })).to.equal('y');
    expect(() => render('{{ user.name }}', { pointers: true })).to.throw('not defined');
  });

  it('replace a pattern by the same 128 random bits every time', () => {
    const [first = '', second = '', other = ''] = render(
      '{{ replace_with_random("x,x", "x") }},{{ replace_with_random("y", "y") }}',
    ).split(',');
    expect(first)
      .to.match(/^[A-Za-z0-9+/]{22}$/)
      .and.equal(second);
    expect(other)
      .to.match(/^[A-Za-z0-9+/]{22}$/)
      .and.not.equal(first);
    expect(render('{{ replace_with_random("x", "x") }}')).to.equal(first);
  });

  it('report the variables and functions that they use, except those that they set', () => {
    const { variables, functions } = compileTemplate(
      '{% set a = b.c %}{{ a }}{% for x in list %}{{ x | upper }}{{ loop.index }}{{ header("x") }}{% endfor %}{{ x }}',
    ).uses;
    expect([...variables]).to.deep.equal(['b.c', 'list', 'x']);
    expect([...functions]).to.deep.equal(['upper', 'header']);
  });

  const failures: [string, string][] = [
    ['{{ nobody }}', "variable 'nobody' is not defined"],
    ['{{ user.nobody }}', "variable 'user.nobody' is not defined"],
    ['{{ name.constructor }}{{ user.__proto__ }}', "variable 'name.constructor' is not defined"],
    ['{{ user.__proto__ }}', "variable 'user.__proto__' is not defined"],
    ['{{ constructor }}', "variable 'constructor' is not defined"],
    ['{{ 1 / 0 }}', 'division by zero'],
    ['{{ 1 % 0 }}', 'division by zero'],
    ['{{ 9 ^ 9999 }}', 'the result is not a number'],
    ['{{ 1 + "a" }}', 'arithmetic requires numbers'],
    ['{{ 1 < "a" }}', 'only numbers or strings can be compared'],
    ['{{ upper(1) }}', 'a text is required, not of type number'],
    ['{{ first([]) }}', 'the element does not exist'],
    ['{{ at(list, 9) }}', 'the element does not exist'],
    ['{% for x in name %}{% endfor %}', 'the loop needs a list'],
    ['{% for k, v in list %}{% endfor %}', 'the loop needs an object'],
    ['{{ range(100000000) }}', 'the template takes too many steps'],
    ['{% for a in range(400) %}{% for b in range(400) %}{% endfor %}{% endfor %}', 'the template takes too many steps'],
    [
      '{% set s = "aaaaaaaa" %}{% for i in range(99) %}{% set s = s + s %}{% endfor %}',
      'the rendered text is too long',
    ],
    ['{% set s = join(range(9000), "aaaaaaaa") %}', 'the template takes too many steps'],
  ];
  for (const [source, message] of failures) {
    it(`fail to render ${JSON.stringify(source)}`, () => {
      expect(() => render(source))
        .to.throw(message)
        .with.property('code', 'ERR_CORE_TEMPLATE_RENDER');
    });
  }

  const refusals: [string, string][] = [
    ['{{ name', 'line 1, column 1: {{ is not closed'],
    ['a\nb {% if name ', 'line 2, column 3: {% is not closed'],
    ['{# a', 'line 1, column 1: {# is not closed'],
    ['{{ "abc }}', 'line 1, column 4: the text is not closed'],
    ['{{ }}', 'line 1, column 4: a value is missing'],
    ['{{ 1 + }}', 'line 1, column 8: a value is missing'],
    ['{{ a b }}', "line 1, column 6: 'b' is not expected here"],
    ['{{ (1 }}', "line 1, column 7: ')' is missing"],
    ['{{ a ? b }}', "line 1, column 6: '?' is not expected here"],
    ['{{ system("ls") }}', "line 1, column 4: there is no function 'system'"],
    ['{{ constructor("x") }}', "line 1, column 4: there is no function 'constructor'"],
    ['{{ upper() }}', "line 1, column 4: 'upper' takes 1 arguments, not 0"],
    ['{{ a | 1 }}', 'line 1, column 8: a function name is missing after |'],
    ['{{ "\\x" }}', 'line 1, column 5: \\x is not an escape'],
    ['{{ [name] }}', "line 1, column 5: 'name' is not expected here"],
    ['{{ {1: 2} }}', 'line 1, column 5: a key in quotes is missing'],
    ['{{ 1e999 }}', 'line 1, column 4: the number is too large'],
    ['{% if a %}', 'line 1, column 1: the if has no endif'],
    ['{% for a in b %}', 'line 1, column 1: the for has no endfor'],
    ['{% endif %}', 'line 1, column 1: endif closes no if'],
    ['{% if a %}{% endfor %}', 'line 1, column 11: endfor closes no for'],
    ['{% else %}', 'line 1, column 1: else outside of an if'],
    ['{% if a %}{% else %}{% else %}{% endif %}', 'line 1, column 21: this if already has an else'],
    ['{% for in b %}', 'line 1, column 8: the name of the loop variable is missing'],
    ['{% set a.b = 1 %}', 'line 1, column 8: the name of the variable is missing'],
    ['{% include "x" %}', "line 1, column 4: 'include' is not a statement"],
    ['## nonsense\n', "line 1, column 4: 'nonsense' is not a statement"],
    [`{{ ${'('.repeat(100)}1${')'.repeat(100)} }}`, 'the expression is nested too deeply'],
    [`{{ ${'1+'.repeat(600)}1 }}`, 'an expression must have at most 500 parts'],
    [`{{ ${'not '.repeat(600)}1 }}`, 'the expression is nested too deeply'],
    [`${'{% if a %}'.repeat(33)}`, 'statements are nested too deeply'],
    ['a'.repeat(70_000), 'a template must have at most 65536 characters'],
  ];
  for (const [source, message] of refusals) {
    it(`reject ${JSON.stringify(source.slice(0, 60))}`, () => {
      expect(() => compileTemplate(source))
        .to.throw(message)
        .with.property('code', 'ERR_CORE_TEMPLATE');
    });
  }

  it('report the position of a problem in the template', () => {
    expect(() => compileTemplate('one\ntwo {{ a b }}'))
      .to.throw()
      .that.includes({ line: 2, column: 10, offset: 13 });
  });
});
