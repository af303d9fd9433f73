import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.ar.ArabicAnalyzer;
import org.apache.lucene.analysis.bg.BulgarianAnalyzer;
import org.apache.lucene.analysis.ca.CatalanAnalyzer;
import org.apache.lucene.analysis.cjk.CJKAnalyzer;
import org.apache.lucene.analysis.cz.CzechAnalyzer;
import org.apache.lucene.analysis.da.DanishAnalyzer;
import org.apache.lucene.analysis.de.GermanAnalyzer;
import org.apache.lucene.analysis.el.GreekAnalyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.es.SpanishAnalyzer;
import org.apache.lucene.analysis.fa.PersianAnalyzer;
import org.apache.lucene.analysis.fi.FinnishAnalyzer;
import org.apache.lucene.analysis.fr.FrenchAnalyzer;
import org.apache.lucene.analysis.hi.HindiAnalyzer;
import org.apache.lucene.analysis.hu.HungarianAnalyzer;
import org.apache.lucene.analysis.id.IndonesianAnalyzer;
import org.apache.lucene.analysis.it.ItalianAnalyzer;
import org.apache.lucene.analysis.nl.DutchAnalyzer;
import org.apache.lucene.analysis.no.NorwegianAnalyzer;
import org.apache.lucene.analysis.pt.PortugueseAnalyzer;
import org.apache.lucene.analysis.ro.RomanianAnalyzer;
import org.apache.lucene.analysis.ru.RussianAnalyzer;
import org.apache.lucene.analysis.sr.SerbianAnalyzer;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.sv.SwedishAnalyzer;
import org.apache.lucene.analysis.th.ThaiAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tr.TurkishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * What BM25 of Lucene (k1 1.2, b .75) finds in collections of BEIR's layout, whole documents, title and text in one field:
 * writes FOLDER/lucene-reference.json, which bench/quality.ts reads. A name that ends in a language's two letters
 * (xquad-ru) says which of Lucene's analyzers, else it is the English one. --queries asks those that the bench asks with it.
 *
 *     java -cp 'lib/*' bench/quality/Lucene.java FOLDER COLLECTION… [--queries N]
 *
 * lib holds lucene-core, lucene-analysis-common (9.12) and jackson-databind with what they need.
 */
class Lucene {
  static Analyzer analyzerOf(String language) {
    return switch (language) {
      case "ar" -> new ArabicAnalyzer();
      case "bg" -> new BulgarianAnalyzer();
      case "ca" -> new CatalanAnalyzer();
      case "cs" -> new CzechAnalyzer();
      case "da" -> new DanishAnalyzer();
      case "de" -> new GermanAnalyzer();
      case "el" -> new GreekAnalyzer();
      case "en" -> new EnglishAnalyzer();
      case "es" -> new SpanishAnalyzer();
      case "fa" -> new PersianAnalyzer();
      case "fi" -> new FinnishAnalyzer();
      case "fr" -> new FrenchAnalyzer();
      case "hi" -> new HindiAnalyzer();
      case "hu" -> new HungarianAnalyzer();
      case "id" -> new IndonesianAnalyzer();
      case "it" -> new ItalianAnalyzer();
      case "ja", "ko", "zh" -> new CJKAnalyzer();
      case "nb", "no" -> new NorwegianAnalyzer();
      case "nl" -> new DutchAnalyzer();
      case "pt" -> new PortugueseAnalyzer();
      case "ro" -> new RomanianAnalyzer();
      case "ru" -> new RussianAnalyzer();
      case "sr" -> new SerbianAnalyzer();
      case "sv" -> new SwedishAnalyzer();
      case "th" -> new ThaiAnalyzer();
      case "tr" -> new TurkishAnalyzer();
      default -> new StandardAnalyzer();
    };
  }

  static final ObjectMapper json = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    Path reference = folder.resolve("lucene-reference.json");
    ObjectNode figures = Files.exists(reference) ? (ObjectNode) json.readTree(reference.toFile()) : json.createObjectNode();
    IndexSearcher.setMaxClauseCount(100_000);
    int flag = List.of(args).indexOf("--queries");
    int most = flag < 0 ? Integer.MAX_VALUE : Integer.parseInt(args[flag + 1]);
    for (String name : List.of(args).subList(1, flag < 0 ? args.length : flag)) {
      String language = name.matches(".*-[a-z]{2}") ? name.substring(name.length() - 2) : "en";
      ObjectNode found = measure(folder.resolve(name), analyzerOf(language), most);
      figures.set(name + "|" + language + "|1.2/0.75", found);
      System.out.println(name + " " + found);
    }
    json.writerWithDefaultPrettyPrinter().writeValue(reference.toFile(), figures);
  }

  static ObjectNode measure(Path collection, Analyzer analyzer, int most) throws Exception {
    ByteBuffersDirectory index = new ByteBuffersDirectory();
    // IndexWriterConfig's and IndexSearcher's own similarity is BM25 at 1.2 and .75.
    try (IndexWriter writer = new IndexWriter(index, new IndexWriterConfig(analyzer))) {
      for (JsonNode record : records(collection.resolve("corpus.jsonl"))) {
        Document document = new Document();
        document.add(new StringField("id", record.get("_id").asText(), Field.Store.YES));
        document.add(new TextField("text", record.path("title").asText("") + "\n" + record.get("text").asText(), Field.Store.NO));
        writer.addDocument(document);
      }
    }
    Map<String, Map<String, Integer>> judgements = new HashMap<>();
    List<String> lines = Files.readAllLines(collection.resolve("qrels.tsv"));
    for (String line : lines.subList(1, lines.size())) {
      String[] cells = line.split("\t");
      judgements.computeIfAbsent(cells[0], query -> new HashMap<>()).put(cells[1], Integer.parseInt(cells[2]));
    }
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(index));
    double ndcg = 0;
    double recall = 0;
    int queries = 0;
    List<JsonNode> judged = records(collection.resolve("queries.jsonl")).stream()
      .filter(query -> judgements.containsKey(query.get("_id").asText())).toList();
    int every = Math.max(1, (int) Math.ceil((double) judged.size() / most));
    for (int at = 0; at < judged.size(); at += every) {
      JsonNode query = judged.get(at);
      Map<String, Integer> graded = judgements.get(query.get("_id").asText());
      int[] grades = graded.values().stream().filter(grade -> grade > 0).sorted(Comparator.reverseOrder()).mapToInt(grade -> grade).toArray();
      if (grades.length == 0) continue;
      var hits = searcher.search(queryOf(analyzer, query.get("text").asText()), 100).scoreDocs;
      double gain = 0;
      int relevant = 0;
      for (int place = 0; place < hits.length; place++) {
        int grade = Math.max(0, graded.getOrDefault(searcher.storedFields().document(hits[place].doc).get("id"), 0));
        if (place < 10) gain += grade / log2(place + 2);
        if (grade > 0) relevant++;
      }
      double ideal = 0;
      for (int place = 0; place < Math.min(10, grades.length); place++) ideal += grades[place] / log2(place + 2);
      ndcg += gain / ideal;
      recall += (double) relevant / grades.length;
      queries++;
    }
    return json.createObjectNode().put("nDCG@10", rounded(ndcg / queries)).put("Recall@100", rounded(recall / queries)).put("queries", queries);
  }

  static BooleanQuery queryOf(Analyzer analyzer, String text) throws Exception {
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    try (TokenStream tokens = analyzer.tokenStream("text", text)) {
      CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
      tokens.reset();
      while (tokens.incrementToken()) query.add(new TermQuery(new Term("text", term.toString())), BooleanClause.Occur.SHOULD);
      tokens.end();
    }
    return query.build();
  }

  static List<JsonNode> records(Path file) throws Exception {
    return json.readerFor(JsonNode.class).<JsonNode>readValues(file.toFile()).readAll();
  }

  static double log2(double value) {
    return Math.log(value) / Math.log(2);
  }

  static double rounded(double value) {
    return Math.round(value * 1e4) / 1e4;
  }
}
