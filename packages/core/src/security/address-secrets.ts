const USER_INFO = /^(rediss?:\/\/(?=.*@)).*@|^([a-z][a-z0-9+.-]*:\/\/)[^/?#\s]*@/i;
const WITH_QUERY = /^([a-z][a-z0-9+.-]*:\/\/[^?#\s]*\?)([^#\s]+)/i;

/**
 * Returns an address without secrets: user, password and the values of its query, which may be keys, are replaced by `hidden`.
 * Any other text is returned unchanged.
 *
 * @example
 * withoutAddressSecrets('https://auth.example.com/check?key=abc', '<redacted>'); // https://auth.example.com/check?key=<redacted>
 */
export function withoutAddressSecrets(text: string, hidden: string): string {
  return text
    .replace(USER_INFO, (_all, database: string = '', scheme: string = '') => `${database}${scheme}${hidden}@`)
    .replace(WITH_QUERY, (_all, address: string, query: string) => address + hideValues(query, hidden));
}

function hideValues(query: string, hidden: string): string {
  const hide = (part: string): string => {
    const cut = part.indexOf('=');
    return cut < 0 ? hidden : `${part.slice(0, cut)}=${hidden}`;
  };
  return query.split('&').map(hide).join('&');
}
