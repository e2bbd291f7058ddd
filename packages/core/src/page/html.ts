/** Returns a text escaped for HTML, also for a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Returns a path on this host or an http(s) address for a link; anything else becomes `/`. */
export function safeHref(href: string): string {
  if (href === '' || /^https?:\/\//i.test(href)) return href;
  return href.startsWith('/') && !/^\/[/\\]/.test(href) ? href : '/';
}
