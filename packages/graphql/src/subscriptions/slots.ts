/** A bound of what is open at the same time. */
export interface Places {
  /** Takes a place; false when there is none left. */
  take(): boolean;
  leave(): void;
}

/** Makes so many places; 0 is no limit. */
export function createPlaces(max: number): Places {
  let taken = 0;
  return {
    take() {
      if (max > 0 && taken >= max) return false;
      taken++;
      return true;
    },
    leave() {
      taken--;
    },
  };
}
