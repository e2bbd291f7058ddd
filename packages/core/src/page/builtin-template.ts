/** The default template: one column, light and dark, without scripts or external resources. */
export const BUILTIN_TEMPLATE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; --text: #1c2733; --soft: #5a6672; --back: #f3f5f7; --card: #fff; --line: #d9dfe5; --accent: #1f5fbf; --on-accent: #fff }
@media (prefers-color-scheme: dark) { :root { --text: #e6eaee; --soft: #9aa5b1; --back: #14181d; --card: #1e242b; --line: #343d47; --accent: #82b1ff; --on-accent: #10151b } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 30rem; padding: 2rem 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25 }
p { margin: 0 0 1rem }
nav, form { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0 }
nav a, button { padding: .5rem 1.1rem; border: 1px solid var(--accent); border-radius: .5rem; color: var(--accent); background: none; font: inherit; text-decoration: none; cursor: pointer }
nav a:first-child, button { background: var(--accent); color: var(--on-accent) }
small { display: block; margin-top: 1.5rem; color: var(--soft) }
</style>
</head>
<body>
<main>
<h1>{{ title }}</h1>
{{ content }}
{{ links }}
{{ details }}
</main>
</body>
</html>
`;
