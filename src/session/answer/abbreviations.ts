/**
 * Abbreviations that end with a period, in the most widely spoken languages and those in `phrases.ts`. Excludes
 * abbreviations that are also ordinary words, such as "no." and "mar.". A lowercase entry also matches in uppercase.
 */
const ALWAYS = new Set(
  [
    // English
    "mr mrs Ms Mx Messrs dr prof Rev Hon Fr Sr Jr St Mt Gen Col Maj Capt Cmdr Lt Sgt Cpl Pvt Adm Gov Sen Rep Pres Supt Insp",
    "Jan Feb Apr Aug Sept Sep Oct Nov Dec Mon Tue Tues Wed Thu Thurs Fri",
    "Ave Blvd Rd Dept Univ Assn Bros Inc Ltd Co Corp Esq vs etc cf al approx ext",
    // German
    "Hr Hrn Fr Frl Dipl ing Mag Str bzw usw evtl ggf ca inkl exkl zzgl bspw sog vgl Abb Anm Aufl Bd Hrsg hrsg Kap Mio Mrd resp Std Tel Nr Jh geb gest Okt Dez Mrz",
    // Spanish, Portuguese
    "sr sra srta sres dra Dn Lic Arq Ud Uds Vd Vds Avda Gral Cía Ene Abr Ago Dic núm tel pág págs Exmo Exma profa Eng Av EE UU Dª D.ª ej Ltda",
    // French, Italian, Dutch
    "Mme Mlle MM Mgr Me Pr janv févr avr juil déc éd sig sigra dott avv Geom Egr Spett ecc pag dhr mevr mw drs mr bijv enz o.a",
    // Russian
    "г гг ул тел стр рис проф акад тыс млн млрд руб коп напр др пр янв февр апр авг сент окт нояб дек кв См",
    // Indonesian
    "Bpk Sdr Yth Jl dll dsb dst hlm Ir Hj KH tgl S.Pd S.Kom S.T M.Si M.Pd",
    // Hindi, Bengali
    "डॉ श्री प्रो कु सुश्री पं रु ডা ড মো মোঃ প্রফেসর",
    // Arabic, Urdu
    "د أ م ص هـ ق أ.د ڈاکٹر",
  ].flatMap((line) => line.split(" ")),
);

/** Abbreviations that count only before a number, because elsewhere they may be ordinary words. */
const BEFORE_NUMBERS = new Set(
  "no nos n nr num fig figs vol ch sec art p pp par para op ver mar jun jul sat sun Mai may núm art cap pos abs kap s c с п ст № رقم".split(
    " ",
  ),
);

/** The Arabic prefix for "and", which is joined to the next word. */
const ARABIC_AND = /^و(?=.)/u;

/**
 * Whether a word that ends with a period is an abbreviation, so that no sentence ends there.
 *
 * @param word without the period
 * @param next the text after the word
 */
export function isAbbreviation(word: string, next: string): boolean {
  const lower = word.toLowerCase();
  if (ALWAYS.has(word) || ALWAYS.has(lower) || ALWAYS.has(word.replace(ARABIC_AND, ""))) return true;
  return /^\p{N}/u.test(next) && BEFORE_NUMBERS.has(lower);
}
